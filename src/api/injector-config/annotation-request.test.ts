import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { ConfigurationError } from '../errors.ts';
import { formatRolloutAction, parseRolloutAction, rolloutVerbs } from '../revision-tag/rollout-action.ts';
import { formatRotateRequest, parseRotateRequest, rotateTargets } from './rotate-request.ts';

const nonce = fc.stringMatching(/^[A-Za-z0-9-]{1,63}$/);
const renewal = fc.record({ target: fc.constantFrom(...rotateTargets), nonce });
const action = fc.record({ verb: fc.constantFrom(...rolloutVerbs), nonce });

/** Returns malformed values: a missing or invalid word or nonce, or a second line. */
const malformed = (word: string, other: string, unknown: string): string[] => [
  '',
  ...['', ':', ': a', ':ä', `:${'a'.repeat(64)}`, `:a\n${other}:b`].map((rest) => `${word}${rest}`),
  unknown,
  `${word.toUpperCase()}:1`,
];

for (const [title, checkRoundTrip, parse, bad, annotation, words] of [
  [
    'parseRotateRequest',
    () => {
      fc.assert(
        fc.property(renewal, (input) =>
          isDeepStrictEqual(parseRotateRequest(formatRotateRequest(input)), { ...input }),
        ),
      );
    },
    parseRotateRequest,
    malformed('leaf', 'authority', 'ca:1'),
    'sidecar-injector.io/rotate',
    'leaf, authority, authority-force',
  ],
  [
    'parseRolloutAction',
    () => {
      fc.assert(
        fc.property(action, (input) => isDeepStrictEqual(parseRolloutAction(formatRolloutAction(input)), { ...input })),
      );
    },
    parseRolloutAction,
    malformed('abort', 'retry', 'undo:1'),
    'sidecar-injector.io/action',
    'promote, abort, pause, resume, retry',
  ],
] as const) {
  describe(title, () => {
    it('parses every formatted request', () => {
      checkRoundTrip();
    });

    for (const value of bad) {
      it(`refuses ${JSON.stringify(value.slice(0, 20))}, and names the annotation`, () => {
        const field = `metadata.annotations[${annotation}]`;
        assert.throws(
          () => parse(value),
          (error) =>
            error instanceof ConfigurationError &&
            error.field === field &&
            error.message.startsWith(`${field}: `) &&
            error.message.includes(words),
        );
      });
    }
  });
}
