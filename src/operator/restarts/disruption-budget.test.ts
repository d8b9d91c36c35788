import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { coveringBudgets, recordOfBudget, selectorLimit } from './disruption-budget.ts';

function budget(spec: object, status: object = {}, metadata: object = {}): KubernetesObject {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'some', namespace: 'shop', uid: 'u', resourceVersion: '7', generation: 2, ...metadata },
    spec: { minAvailable: 1, ...spec },
    status: { observedGeneration: 2, disruptionsAllowed: 3, currentHealthy: 4, ...status },
  };
}

const labels = { app: 'web', tier: 'front' };
const covers = (spec: object, of: Record<string, string> | undefined = labels): boolean =>
  coveringBudgets({ metadata: { namespace: 'shop' }, labels: of }, [recordOfBudget(budget(spec))]).length === 1;
const expression = (key: string, operator: string, values?: string[]) => ({
  selector: { matchExpressions: [{ key, operator, ...(values && { values }) }] },
});

describe('a PodDisruptionBudget', () => {
  it('keeps only the fields that restarts need', () => {
    const { covers: matcher, ...kept } = recordOfBudget(budget({ selector: {} }, {}, { labels, annotations: labels }));
    assert.equal(typeof matcher, 'function');
    assert.deepEqual(kept, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'some', namespace: 'shop', uid: 'u', resourceVersion: '7' },
      disruptionsAllowed: 3,
    });
  });

  for (const [title, spec, expected] of [
    ['an equal label', { selector: { matchLabels: { app: 'web' } } }, true],
    ['another label value', { selector: { matchLabels: { app: 'db' } } }, false],
    ['two labels, of which one is equal,', { selector: { matchLabels: { app: 'web', zone: 'a' } } }, false],
    ['operator In', expression('app', 'In', ['db', 'web']), true],
    ['operator NotIn', expression('app', 'NotIn', ['web']), false],
    ['operator Exists', expression('tier', 'Exists'), true],
    ['operator DoesNotExist', expression('tier', 'DoesNotExist'), false],
    ['an empty selector', { selector: {} }, true],
    ['no selector', {}, false],
    ['a null selector', { selector: null }, false],
  ] as const) {
    it(`with ${title} ${expected ? 'covers' : 'does not cover'} a workload`, () => {
      assert.equal(covers(spec), expected);
    });
  }

  it('covers no pod in another namespace', () => {
    const record = recordOfBudget(budget({ selector: {} }));
    assert.deepEqual(coveringBudgets({ metadata: { namespace: 'tools' }, labels }, [record]), []);
  });

  it('covers a workload whose labels exceed the limit', () => {
    const metadata = { namespace: 'shop' };
    const database = recordOfBudget(budget({ selector: { matchLabels: { app: 'db' } } }));
    assert.equal(coveringBudgets({ metadata, labels: undefined }, [database]).length, 1);
    const covering = coveringBudgets({ metadata, labels }, [recordOfBudget(budget({ selector: {} }))]);
    assert.deepEqual(covering, [{ name: 'some', disruptionsAllowed: 3 }]);
  });

  it('covers every pod when its selector exceeds the limit', () => {
    const many = (count: number) => ({
      selector: { matchLabels: Object.fromEntries(Array.from({ length: count }, (_, index) => [`l${index}`, 'x'])) },
    });
    assert.equal(covers(many(selectorLimit.requirements)), false);
    assert.equal(covers(many(selectorLimit.requirements + 1)), true);
    const values = Array.from({ length: 2000 }, (_, index) => `v${index}`);
    assert.equal(covers(expression('app', 'In', values)), true);
    assert.equal(covers(expression('app', 'In', values.slice(0, 100))), false);
  });

  it('allows no disruption while its status is out of date', () => {
    const allowed = (status: object, metadata: object = {}) =>
      recordOfBudget(budget({ selector: {} }, status, metadata)).disruptionsAllowed;
    assert.equal(allowed({ observedGeneration: 1 }), 0);
    assert.equal(allowed({ observedGeneration: undefined }), 0);
    assert.equal(allowed({ disruptionsAllowed: undefined }), 0);
    assert.equal(allowed({ observedGeneration: 3 }), 3);
    assert.equal(recordOfBudget({ ...budget({ selector: {} }), status: undefined }).disruptionsAllowed, 0);
  });
});
