import assert from 'node:assert/strict';
import type { JsonObject } from '../../inject/patch/json-value.ts';
import { ApiError } from '../../kube/api-error.ts';
import { runTorture, type TortureResult } from './run-torture.ts';

interface TestPod extends JsonObject {
  metadata: { name?: string; generateName?: string; labels?: Record<string, string>; ownerReferences?: unknown[] };
  spec: { containers: JsonObject[]; initContainers?: JsonObject[]; hostUsers?: boolean };
}

const refused = (message: string): never => {
  throw new ApiError({ code: 403, reason: 'Forbidden', message });
};

/** Stores pods as an API server does that does not know user namespaces. */
function stored(pod: JsonObject): TestPod {
  const { metadata, spec } = structuredClone(pod) as TestPod;
  delete spec.hostUsers;
  const name = metadata.name ?? `${metadata.generateName}12345`;
  return { metadata: { ...metadata, name }, spec, status: {} };
}

function withSidecar(pod: TestPod): TestPod {
  if (!pod.spec.containers.some(({ name }) => name === 'sidecar')) pod.spec.containers.push({ name: 'sidecar' });
  return pod;
}

/** Runs the suite against an injector. Each answer takes `milliseconds`. */
async function results(inject: (pod: TestPod) => TestPod, milliseconds = 1): Promise<TortureResult[]> {
  let time = 0;
  const cluster = {
    injected: (pod: JsonObject) => {
      time += milliseconds;
      return Promise.resolve().then(() => inject(stored(pod)));
    },
    bare: (pod: JsonObject) => Promise.resolve(stored(pod)),
    now: () => time,
  };
  const told: TortureResult[] = [];
  const all = await runTorture(cluster, 10, (each) => told.push(each));
  assert.deepEqual(told, all);
  return all;
}

const failed = (all: readonly TortureResult[]) =>
  Object.fromEntries(
    all.filter(({ result }) => result === 'Failed').map((each) => [each.case, each.problems.join('; ')] as const),
  );

describe('runTorture', () => {
  it('passes an injector that only adds a sidecar', async () => {
    const all = await results(withSidecar);
    assert.deepEqual(failed(all), {});
    assert.ok(all.every(({ injected, case: name }) => injected || name === 'a container named as the sidecar'));
    assert.ok(all.length > 20);
  });

  const mistakes: [name: string, inject: (pod: TestPod) => TestPod, found: Record<string, RegExp>][] = [
    ['does not inject', (pod) => pod, { 'a plain pod': /^it gets no container$/ }],
    [
      'drops a field that it does not know',
      (pod) => {
        for (const each of pod.spec.containers) delete each['resizePolicy'];
        return withSidecar(pod);
      },
      { 'new field: resizePolicy of a container': /^spec.containers\[main\].resizePolicy\[0\] is lost or changed$/ },
    ],
    [
      'cannot handle a pod without a name',
      (pod) => (pod.metadata.generateName?.startsWith('nnn') ? refused('no name') : withSidecar(pod)),
      { 'the longest generated name': /^it is refused: no name$/ },
    ],
    [
      'reverses init containers',
      (pod) => {
        pod.spec.initContainers?.reverse();
        return withSidecar(pod);
      },
      {
        "the author's own native sidecar":
          /^spec.initContainers\[proxy\] \(its order\) is lost or changed; .*; a second pass/,
      },
    ],
    [
      "replaces the author's container",
      (pod) => {
        pod.spec.containers = [...pod.spec.containers.filter(({ name }) => name !== 'sidecar'), { name: 'sidecar' }];
        return pod;
      },
      { 'a container named as the sidecar': /^spec.containers\[sidecar\].image is lost/ },
    ],
    [
      'knows only some owners',
      (pod) => (pod.metadata.ownerReferences === undefined ? withSidecar(pod) : refused('unknown owner')),
      { 'an owner of an unknown kind': /unknown owner/ },
    ],
  ];
  for (const [name, inject, found] of mistakes) {
    it(`finds that an injector ${name}`, async () => {
      const problems = failed(await results(inject));
      assert.deepEqual(Object.keys(problems), Object.keys(found));
      for (const [each, expected] of Object.entries(found)) assert.match(problems[each] ?? '', expected);
    });
  }

  it('finds that a second pass adds a sidecar, in each pod', async () => {
    const all = await results((pod) => {
      pod.spec.containers.push({ name: `sidecar-${pod.spec.containers.length}` });
      return pod;
    });
    assert.ok(
      all.every(({ problems }) =>
        problems.some((each) => /^a second pass changes spec.containers\[sidecar-/.test(each)),
      ),
    );
  });

  it('finds an injector that takes more than half of its deadline', async () => {
    const slow = await results(withSidecar, 5001);
    assert.ok(
      slow.every(({ problems }) => problems.join() === 'the answer took 5001 ms, more than half of the deadline'),
    );
    assert.deepEqual(failed(await results(withSidecar, 5000)), {});
  });

  it('judges no pod that the API server refuses by itself', async () => {
    const cluster = {
      injected: (pod: JsonObject) => Promise.resolve(withSidecar(stored(pod))),
      bare: () => Promise.resolve().then(() => refused('quota')),
      now: () => 0,
    };
    const all = await runTorture(cluster, 10, () => undefined);
    assert.ok(all.every(({ result, problems }) => result === 'NotApplicable' && problems.join() === 'quota'));
  });

  it('ends if the API server cannot be reached', async () => {
    const gone = (): never => {
      throw new ApiError({ code: 0, reason: 'Unreachable', message: 'no route' });
    };
    const cluster = {
      injected: () => Promise.resolve().then(gone),
      bare: () => Promise.resolve().then(gone),
      now: () => 0,
    };
    await assert.rejects(
      runTorture(cluster, 10, () => undefined),
      /no route/,
    );
  });
});
