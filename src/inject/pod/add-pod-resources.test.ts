import assert from 'node:assert/strict';
import fc from 'fast-check';
import { amountOf } from '../kubernetes/quantity.ts';
import type { JsonObject } from '../patch/json-value.ts';
import { findInvalidFields } from '../validity/find-invalid-fields.ts';
import { addPodResources } from './add-pod-resources.ts';

interface Resources {
  readonly requests?: Readonly<Record<string, string | number>>;
  readonly limits?: Readonly<Record<string, string | number>>;
}

const container = (resources: Resources, more: JsonObject = {}): JsonObject => ({
  name: 'c',
  image: 'a:1',
  resources: { ...resources },
  ...more,
});
const podOf = (resources: Resources | undefined, containers: JsonObject[], init: JsonObject[] = []): JsonObject => ({
  spec: { containers, initContainers: init, ...(resources && { resources: { ...resources } }) },
});
const resourcesOf = ({ spec }: JsonObject): unknown => (spec as JsonObject).resources;
const cpu = (amount: string): Resources => ({ requests: { cpu: amount } });
const memory = (amount: string): Resources => ({ requests: { memory: amount } });
const native = { restartPolicy: 'Always' };
const app = container(cpu('1'));

describe('addPodResources', () => {
  const large = { requests: { cpu: '300m', memory: '128Mi' }, limits: { memory: '256Mi' } };
  const rows: [title: string, own: Resources | undefined, sidecar: JsonObject, expected: Resources | undefined][] = [
    ['nothing without resources of the pod', undefined, container(large), undefined],
    ['only amounts that are set', cpu('1'), container(large), cpu('1300m')],
    [
      'the limits, and the requests of a sidecar without a limit',
      { limits: { cpu: '2', memory: '1Gi' } },
      container(large),
      { limits: { cpu: '2300m', memory: '1280Mi' } },
    ],
    ['a native sidecar', { requests: { cpu: 1 } }, container(large, native), { requests: { cpu: '1300m' } }],
    ['nothing for a small init container', cpu('1'), container(large, { init: true }), cpu('1')],
    ['a limit as the request', memory('100M'), container({ limits: { memory: '28M' } }), memory('128M')],
    ['exact fractions', cpu('0.7'), container(cpu('100m')), cpu('800m')],
    ['exact bytes', memory('1Ki'), container(memory('1')), memory('1025')],
    ['whole bytes to large amounts', memory('5G'), container(memory('1m')), memory('5000000001')],
    [
      'huge pages',
      { limits: { 'hugepages-2Mi': '4Mi' } },
      container({ limits: { 'hugepages-2Mi': '2Mi' } }),
      { limits: { 'hugepages-2Mi': '6Mi' } },
    ],
    ['nothing to texts that are no amounts of CPU', cpu('x'), container(large), cpu('x')],
    ['nothing to texts that are no amounts of memory', memory('1e999'), container(large), memory('1e999')],
    ['no amounts that are no numbers', cpu('1'), container(cpu('1e999')), cpu('1')],
    ['nothing for a sidecar without resources', cpu('1.0'), container({}), cpu('1.0')],
  ];
  for (const [title, own, { init, ...sidecar }, expected] of rows) {
    it(`adds ${title}`, () => {
      const isInit = init === true || sidecar.restartPolicy === 'Always';
      const before = podOf(own, [app]);
      const after = isInit ? podOf(own, [app], [sidecar]) : podOf(own, [app, sidecar]);
      const added = addPodResources(after, before, after);
      assert.deepEqual(resourcesOf(added), expected);
      // A second call of the webhook gets the pod with the sidecar.
      assert.deepEqual(addPodResources(added, added, added), added);
    });
  }

  const units = { cpu: ['m', '', 'u'], memory: ['', 'Ki', 'Mi', 'M'] };
  const amount = (name: 'cpu' | 'memory') =>
    fc.tuple(fc.integer({ min: 0, max: 5000 }), fc.constantFrom(...units[name])).map(([n, unit]) => `${n}${unit}`);
  const amounts = fc.record({ cpu: amount('cpu'), memory: amount('memory') }, { requiredKeys: [] });
  const resources = fc.record({ requests: amounts, limits: amounts });
  const containers = fc.array(
    fc.tuple(resources, fc.boolean()).map(([each, always]) => container(each, always ? native : {})),
    { maxLength: 3 },
  );
  const misfits = (pod: JsonObject): string[] =>
    findInvalidFields(pod).flatMap(({ path, message }) =>
      path.startsWith('spec.resources.requests') && message.includes('containers') ? [message] : [],
    );

  const amountsIn = (pod: JsonObject): unknown[] =>
    Object.entries(resourcesOf(pod) as Resources).map(([part, amounts]: [string, object]) => [
      part,
      Object.entries(amounts).map(([name, value]) => [name, (amountOf(String(value)) ?? 0).toFixed(9)]),
    ]);

  it('keeps room for the containers of a pod that had room, and takes back what it added', () => {
    fc.assert(
      fc.property(resources, containers, containers, containers, containers, (own, mine, inits, more, moreInits) => {
        const before = podOf(own, mine, inits);
        const after = podOf(own, [...mine, ...more], [...moreInits, ...inits]);
        const added = addPodResources(after, before, after);
        if (misfits(before).length === 0) assert.deepEqual(misfits(added), []);
        const bare = { spec: { ...(before.spec as JsonObject), resources: resourcesOf(added) } } as JsonObject;
        const again = addPodResources(bare, before, after, -1);
        assert.deepEqual(amountsIn(again), amountsIn(before));
      }),
    );
  });
});
