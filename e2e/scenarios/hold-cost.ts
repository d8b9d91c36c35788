import { parseInjectorConfig } from '../../src/api/injector-config/parse-injector-config.ts';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { gateOf } from '../../src/api/names.ts';
import { holdObjects, policyVersions } from '../../src/manifests/hold-objects.ts';
import { webhookConfiguration } from '../../src/manifests/webhook-configuration.ts';
import { dryRun } from '../harness/admissions.ts';
import { smallConfig } from '../harness/injector-configs.ts';
import type { Pod } from '../harness/pod.ts';
import { quantile } from '../harness/quantile.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { gatesOf } from './hold/held-workloads.ts';
import { replaceablePod } from './hold/holding.ts';

/** The numbers of revisions, each with its policy. Without a policy, the cost is that of a pod. */
const counts = [0, 1, 20];

interface Cost {
  readonly revisions: number;
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
}

export const holdCost: Scenario = {
  name: 'hold-cost',
  about: 'measures the time of a pod creation with the policies of 0, 1 and 20 revisions with failurePolicy Hold',
  onlyGate: true,
  full: 'three times 3,000 dry runs for each number of revisions, about a minute',
  run: async (context) => {
    const namespace = await context.namespace('pods');
    const rounds = context.size === 'full' ? 3 : 1;
    const times = new Map<number, number[]>(counts.map((count) => [count, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const count of counts) {
        const remove = await applyPolicies(context, count);
        const gate = count === 0 ? 'no gate' : 'the gate of the last one';
        await context.check(`with ${count} policies, the API server adds ${gate}`, async () => {
          const gates = gatesOf(await dryRun(context.client, podOf(namespace, count)));
          return gates.join() === (count === 0 ? '' : gateOf(`sidecar-injector-r${count}`));
        });
        times.get(count)?.push(...(await measure(context, podOf(namespace, count))));
        await remove();
      }
    }
    const costs = counts.map((revisions): Cost => {
      const sample = times.get(revisions) ?? [];
      return { revisions, p50Milliseconds: quantile(sample, 0.5), p99Milliseconds: quantile(sample, 0.99) };
    });
    context.measured({ costs: costs.map((each) => ({ ...each })), creations: times.get(0)?.length ?? 0 });
    return costs
      .map((each) => `${each.revisions} revisions: p50 ${each.p50Milliseconds} ms, p99 ${each.p99Milliseconds} ms`)
      .join('; ');
  },
};

/** Applies the policies of revisions r1, r2, …; returns a function that removes them. */
async function applyPolicies({ client }: ScenarioContext, count: number): Promise<() => Promise<void>> {
  const place = { namespace: 'sidecar-injector-system', operatorClass: 'default', podSelector: {}, targetPort: 15_017 };
  const objects = Array.from({ length: count }, (_, index) => {
    const config = parseInjectorConfig(smallConfig(`r${index + 1}`, { failurePolicy: 'Hold' }));
    const input = { config, hash: '00000000', caBundlePem: '' };
    return holdObjects(webhookConfiguration(input, place), input, place, policyVersions[0]);
  }).flat();
  for (const object of objects) await client.apply(object, { fieldManager: 'e2e' });
  return async () => {
    for (const object of objects) await client.delete(object);
  };
}

/** Returns a pod that the last of the policies selects. */
function podOf(namespace: string, count: number): KubernetesObject & Pod {
  return replaceablePod(namespace, 'pod', { labels: { 'istio.io/rev': `r${count}` } });
}

/** Returns the durations of dry-run creations, in milliseconds. */
async function measure({ client, size }: ScenarioContext, pod: KubernetesObject & Pod): Promise<number[]> {
  const sample: number[] = [];
  for (let index = 0; index < (size === 'full' ? 3000 : 300); index += 1) {
    const started = performance.now();
    await dryRun(client, pod);
    sample.push(Math.round((performance.now() - started) * 100) / 100);
  }
  return sample;
}
