import assert from 'node:assert/strict';
import { ConfigurationError } from '../errors.ts';
import { apiVersion } from '../injector-config/injector-config.ts';
import { parseRevisionTag } from './parse-revision-tag.ts';
import { badRevisionTags } from '../testdata/bad-revision-tags.ts';
import { revisionTag } from '../testdata/revision-tag.ts';
import { validateRevisionTag } from './revision-tag-rules.ts';

const object = (name: string, spec: unknown): object => ({ apiVersion, kind: 'RevisionTag', metadata: { name }, spec });

describe('parseRevisionTag', () => {
  it('sets the defaults', () => {
    assert.deepEqual(parseRevisionTag(object('prod', { revision: '1-24' })).spec, {
      revision: '1-24',
      operatorClass: 'default',
      enableNamespacesByDefault: false,
    });
  });

  it('sets the defaults of a strategy', () => {
    const strategy = { canary: { steps: [{ weight: 5 }] }, restart: {}, rollback: {} };
    assert.deepEqual(parseRevisionTag(object('prod', { revision: '1-24', strategy })).spec.strategy, {
      canary: {
        steps: [{ weight: 5, shadow: false }],
        analysis: {
          minimumPods: 3,
          minReadySeconds: 60,
          readyTimeout: '5m',
          maximumFailingPercent: 10,
          maximumRestarts: 2,
          maximumInjectionErrors: 0,
        },
      },
      restart: {
        maxUnavailableWorkloads: 1,
        perNamespace: 1,
        minReadySeconds: 10,
        missing: false,
        prepull: false,
        readyTimeout: '10m',
      },
      rollback: { restart: 'None' },
    });
  });

  for (const { title, name, spec, field, refusedBy, message } of badRevisionTags) {
    it(`refuses ${title}, and names the field`, () => {
      if (refusedBy === 'schema') {
        assert.throws(
          () => parseRevisionTag(object(name, spec)),
          (error) =>
            error instanceof ConfigurationError &&
            error.field === field &&
            error.message.startsWith(`RevisionTag ${name}: `) &&
            message.test(error.message),
        );
        return;
      }
      const mistakes = validateRevisionTag(parseRevisionTag(object(name, spec)));
      const fields = mistakes.map((mistake) => mistake.field);
      assert.deepEqual(fields, [field]);
      assert.match(mistakes[0]?.message ?? '', message);
    });
  }

  it('refuses an unknown field in a file', () => {
    const mistyped = object('prod', { revision: '1-24', revison: '1-25' });
    assert.throws(() => parseRevisionTag(mistyped, { unknownFields: 'refuse' }), /spec\.revison: unknown field/);
    assert.equal(parseRevisionTag(mistyped).spec.revision, '1-24');
  });

  it('refuses an object of another kind', () => {
    assert.throws(
      () => parseRevisionTag({ ...object('prod', {}), kind: 'InjectorConfig' }),
      /kind RevisionTag, found .* and "InjectorConfig"/,
    );
  });

  it('drops an invalid status', () => {
    const read = parseRevisionTag({ ...object('prod', { revision: '1-24' }), status: { stableRevision: 7 } });
    assert.equal('status' in read, false);
  });
});

describe('validateRevisionTag', () => {
  const canary = (...steps: object[]) => ({ strategy: { canary: { steps } } });
  const shadow = { weight: 0, shadow: true };
  const berlin = { from: '22:00', to: '05:00', timeZone: 'Europe/Berlin' };
  for (const [title, name, spec] of [
    ['a minimal spec', 'prod', {}],
    ['a name of 63 characters', 't'.repeat(63), {}],
    ['enableNamespacesByDefault on tag default', 'default', { enableNamespacesByDefault: true }],
    ['tag default with revision default', 'default', { revision: 'default' }],
    ['restarts without a canary', 'prod', { strategy: { restart: {} } }],
    ['windows', 'prod', { strategy: { windows: [{ days: ['Sat', 'Sun'], from: '00:00', to: '24:00' }, berlin] } }],
    ['one step with weight 100', 'prod', canary({ weight: 100 })],
    ['only shadow steps', 'prod', canary(shadow, { ...shadow, pause: '1h30m' })],
    ['steps and pauses', 'prod', canary(shadow, { weight: 1, pause: 'UntilResumed' }, { weight: 2, pause: '10s' })],
  ] as const) {
    it(`accepts ${title}`, () => {
      assert.deepEqual(validateRevisionTag(revisionTag(name, spec)), []);
    });
  }
});
