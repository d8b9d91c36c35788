import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type UpdateWindow, weekdays } from '../api/revision-tag/rollout-strategy.ts';
import { nextOpening, whenOpen } from './update-windows.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

/** Returns the opening as RFC 3339, or `open`. */
function opening(now: string, ...windows: readonly UpdateWindow[]): string {
  const at = nextOpening(windows, Date.parse(now));
  return at === undefined ? 'open' : at === Infinity ? 'never' : new Date(at).toISOString().replace(':00.000Z', 'Z');
}

const utc = { timeZone: 'UTC' };
const berlin = { timeZone: 'Europe/Berlin' };
const night: UpdateWindow = { from: '22:00', to: '05:00', ...berlin };

describe('nextOpening', () => {
  it('is undefined without windows: restarts may begin at any time', () => {
    assert.equal(nextOpening(undefined, 0), undefined);
  });

  it('reads the clock of windows of the same zone once for each quarter of an hour', () => {
    const windows = Array.from({ length: 14 }, (): UpdateWindow => ({ ...night, days: ['Fri'] }));
    let reads = 0;
    const { prototype } = Intl.DateTimeFormat;
    const original = Object.getOwnPropertyDescriptor(prototype, 'formatToParts') ?? {};
    const read = original.value as (date?: number | Date) => Intl.DateTimeFormatPart[];
    prototype.formatToParts = function (date) {
      reads += 1;
      return read.call(this, date);
    };
    try {
      assert.equal(opening('2026-01-01T21:00Z', ...windows), '2026-01-02T21:00Z');
    } finally {
      Object.defineProperty(prototype, 'formatToParts', original);
    }
    assert.equal(reads, 24 * 4 + 1);
  });

  // 2026-01-01 is a Thursday.
  for (const [title, now, windows, expected] of [
    ['the first minute of a window', '2026-01-01T01:00Z', [{ from: '01:00', to: '05:00', ...utc }], 'open'],
    ['the last minute of a window', '2026-01-01T04:59:59.999Z', [{ from: '01:00', to: '05:00', ...utc }], 'open'],
    ['the end of a window', '2026-01-01T05:00Z', [{ from: '01:00', to: '05:00', ...utc }], '2026-01-02T01:00Z'],
    ['a window of another zone', '2026-01-01T20:59:59Z', [night], '2026-01-01T21:00Z'],
    ['a window in summer time', '2026-07-01T19:00Z', [night], '2026-07-01T20:00Z'],
    ['the day after a window begins', '2026-01-02T03:59Z', [{ ...night, days: ['Thu'] }], 'open'],
    ['the day of a window, before it begins', '2026-01-01T03:59Z', [{ ...night, days: ['Thu'] }], '2026-01-01T21:00Z'],
    ['Sunday, in a window of Saturday', '2026-01-04T03:59Z', [{ ...night, days: ['Sat'] }], 'open'],
    [
      'the next of two windows',
      '2026-01-01T06:30Z',
      [night, { from: '08:07', to: '08:08', ...utc }],
      '2026-01-01T08:07Z',
    ],
    ['a whole day', '2026-01-03T23:59Z', [{ days: ['Sat'], from: '00:00', to: '24:00', ...utc }], 'open'],
    [
      'the end of a whole day',
      '2026-01-04T00:00Z',
      [{ days: ['Sat'], from: '00:00', to: '24:00', ...utc }],
      '2026-01-10T00:00Z',
    ],
    [
      'an offset of 45 minutes',
      '2026-01-01T00:00Z',
      [{ from: '06:00', to: '07:00', timeZone: 'Asia/Kathmandu' }],
      '2026-01-01T00:15Z',
    ],
    [
      'a window that begins in the hour that is skipped',
      '2026-03-29T00:50Z',
      [{ from: '02:30', to: '05:00', ...berlin }],
      '2026-03-29T01:00Z',
    ],
    [
      'a window in the hour that is skipped',
      '2026-03-29T00:50Z',
      [{ days: ['Sun'], from: '02:15', to: '02:45', ...berlin }],
      '2026-04-05T00:15Z',
    ],
    [
      'the hour that is repeated',
      '2026-10-25T00:00Z',
      [{ from: '02:15', to: '02:45', ...berlin }],
      '2026-10-25T00:15Z',
    ],
    [
      'the hour that is repeated, again',
      '2026-10-25T00:45Z',
      [{ from: '02:15', to: '02:45', ...berlin }],
      '2026-10-25T01:15Z',
    ],
  ] as const satisfies readonly (readonly [string, string, readonly UpdateWindow[], string])[]) {
    it(`of ${title} is ${expected}`, () => {
      assert.equal(opening(now, ...windows), expected);
    });
  }

  it('opens at the first minute that the clock on the wall shows as within a window', () => {
    const two = (number: number) => String(number).padStart(2, '0');
    const time = fc.tuple(fc.nat(23), fc.nat(59)).map(([hours, minutes]) => `${two(hours)}:${two(minutes)}`);
    const window = fc
      .record({
        days: fc.uniqueArray(fc.constantFrom(...weekdays), { minLength: 1 }),
        from: time,
        to: fc.oneof(time, fc.constant('24:00')),
        timeZone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Pacific/Chatham'),
      })
      .filter(({ from, to }) => from !== to);
    const isOpenOnTheWall = ({ days = [], from, to, timeZone }: UpdateWindow, at: number): boolean => {
      const wall = new Date(at).toLocaleString('sv-SE', { timeZone });
      const clock = wall.slice(11, 16);
      const today = new Date(`${wall.slice(0, 10)}T12:00Z`).getUTCDay();
      const begins = (index: number) => days.some((each) => each === weekdays[(index + 7) % 7]);
      if (from < to) return begins(today) && from <= clock && clock < to;
      return (begins(today) && from <= clock) || (begins(today - 1) && clock < to);
    };
    const now = fc.oneof(
      fc.date({ min: new Date('2026-01-01'), max: new Date('2028-01-01'), noInvalidDate: true }),
      // Around the clock changes of these zones.
      fc
        .tuple(fc.constantFrom('2026-03-08', '2026-03-29', '2026-04-05', '2026-10-04', '2026-10-25'), fc.nat(3 * day))
        .map(([date, later]) => new Date(Date.parse(date) - day + later)),
    );
    fc.assert(
      fc.property(fc.array(window, { minLength: 1, maxLength: 3 }), now, fc.nat(), (windows, date, sample) => {
        const at = nextOpening(windows, date.getTime());
        const isOpen = (time: number) => windows.some((each) => isOpenOnTheWall(each, time));
        assert.equal(isOpen(date.getTime()), at === undefined);
        if (at === undefined || at === Infinity) return;
        assert.ok(isOpen(at) && !isOpen(at - 1));
        assert.ok(!isOpen(date.getTime() + (sample % (at - date.getTime()))));
      }),
    );
  });
});

describe('whenOpen', () => {
  it('names the next opening, or says that there is none', () => {
    assert.match(whenOpen(Date.UTC(2026, 0, 1, 1)), /: the next one begins at 2026-01-01T01:00:00Z$/);
    assert.match(whenOpen(Infinity), /none begins in the next two weeks/);
  });
});
