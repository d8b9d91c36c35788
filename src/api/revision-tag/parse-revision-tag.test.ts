import assert from 'node:assert/strict';
import { ConfigurationError } from '../errors.ts';
import { apiVersion } from '../injector-config/injector-config.ts';
import { parseRevisionTag } from './parse-revision-tag.ts';
import { badRevisionTags } from '../testdata/bad-revision-tags.ts';
import { revisionTag } from '../testdata/revision-tag.ts';
import { validateRevisionTag } from './revision-tag-rules.ts';

const object = (name: string, spec: unknown): object => ({ apiVersion, kind: 'RevisionTag', metadata: { name }, spec });

describe('parseRevisionTag', () => {
  it('fills in the defaults', () => {
    assert.deepEqual(parseRevisionTag(object('prod', { revision: '1-24' })).spec, {
      revision: '1-24',
      operatorClass: 'default',
      enableNamespacesByDefault: false,
    });
  });

  it('fills in the defaults of a strategy', () => {
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
      restart: { maxUnavailableWorkloads: 1, perNamespace: 1, minReadySeconds: 10, readyTimeout: '10m' },
      rollback: { restart: 'None' },
    });
  });

  for (const { title, name, spec, field, refusedBy, message } of badRevisionTags) {
    it(`refuses ${title}, naming the field`, () => {
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

  it('refuses a field that it does not know where a person wrote it', () => {
    const mistyped = object('prod', { revision: '1-24', revison: '1-25' });
    assert.throws(() => parseRevisionTag(mistyped, { unknownFields: 'refuse' }), /spec\.revison: no such field/);
    assert.equal(parseRevisionTag(mistyped).spec.revision, '1-24');
  });

  it('takes another kind for what it is', () => {
    assert.throws(
      () => parseRevisionTag({ ...object('prod', {}), kind: 'InjectorConfig' }),
      /kind RevisionTag, found .* and "InjectorConfig"/,
    );
  });

  it('treats a broken status as lost', () => {
    const read = parseRevisionTag({ ...object('prod', { revision: '1-24' }), status: { stableRevision: 7 } });
    assert.equal('status' in read, false);
  });
});

describe('validateRevisionTag', () => {
  const canary = (...steps: object[]) => ({ strategy: { canary: { steps } } });
  const shadow = { weight: 0, shadow: true };
  for (const [title, name, spec] of [
    ['the smallest', 'prod', {}],
    ['a name of 63 characters', 't'.repeat(63), {}],
    ['the default, wherever it leads', 'default', { enableNamespacesByDefault: true }],
    ['the default that leads to the default revision', 'default', { revision: 'default' }],
    ['restarts alone', 'prod', { strategy: { restart: {} } }],
    ['one step for everybody', 'prod', canary({ weight: 100 })],
    ['shadow steps alone', 'prod', canary(shadow, { ...shadow, pause: '1h30m' })],
    ['steps and pauses', 'prod', canary(shadow, { weight: 1, pause: 'UntilResumed' }, { weight: 2, pause: '10s' })],
  ] as const) {
    it(`has nothing against ${title}`, () => {
      assert.deepEqual(validateRevisionTag(revisionTag(name, spec)), []);
    });
  }
});
