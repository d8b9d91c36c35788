import type { ApiClient } from '../../../src/kube/api-client.ts';
import { barePod } from '../../harness/workloads.ts';

/**
 * Creates pods of about the size that pods have in clusters (6 KB), which are never scheduled, so that nothing else happens to them.
 * @param parallel how many requests are under way at once
 */
export async function createManyPods(
  client: ApiClient,
  namespace: string,
  count: number,
  parallel = 16,
): Promise<void> {
  const env = Array.from({ length: 40 }, (_, index) => ({ name: `SETTING_${index}`, value: 'v'.repeat(60) }));
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const name = `pod-${next++}`;
      const pod = barePod(namespace, name, { labels: { 'pod-template-hash': '5d4f8c7b9' } });
      const [container] = pod.spec.containers;
      const spec = { ...pod.spec, schedulingGates: [{ name: 'e2e/never' }], containers: [{ ...container, env }] };
      await client.create({ ...pod, spec });
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
}
