import { dryRun } from '../../harness/admissions.ts';
import { applyObject } from '../../harness/apply.ts';
import { found } from '../../harness/found.ts';
import {
  applyUntilReady,
  condition,
  deleteForced,
  smallConfig,
  waitForCondition,
} from '../../harness/injector-configs.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod } from '../../harness/workloads.ts';

/** Two InjectorConfigs of one revision: the older one stays, the younger one says why it does nothing, and takes over when it may. */
export async function checkOverlap(context: ScenarioContext): Promise<void> {
  const { client } = context;
  const named = (name: string) => {
    const config = smallConfig(name);
    return { ...config, spec: { ...config.spec, revision: 'contested' } };
  };
  const namespace = await context.namespace('contested', { 'istio.io/rev': 'contested' });
  const containers = async () => {
    const pod = await dryRun(client, barePod(namespace, 'pod'));
    return pod.spec.containers
      .map(({ name }) => name)
      .sort()
      .join();
  };
  const elder = await applyUntilReady(client, named('elder'));
  const { metadata } = await applyObject(client, named('younger'));
  const overlapped = await waitForCondition(client, 'younger', 'Ready', 'False', metadata.generation);
  await context.check(
    'a second InjectorConfig of the same revision says Overlap and names the first',
    () =>
      condition(overlapped, 'Overlap')?.status === 'True' &&
      condition(overlapped, 'Overlap')?.message.includes('elder'),
    { timeout: 0 },
  );
  await context.check('pods are injected once, by the first', async () => found(await containers(), 'elder,sleep'));
  await deleteForced(client, elder);
  await waitForCondition(client, 'younger', 'Ready', 'True');
  await context.check('the first goes, the second takes over', async () => found(await containers(), 'sleep,younger'));
}
