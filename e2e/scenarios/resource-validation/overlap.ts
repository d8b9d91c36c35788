import { dryRun } from '../../harness/admissions.ts';
import { applyObject } from '../../harness/apply.ts';
import { found } from '../../harness/wait-for.ts';
import {
  applyUntilReady,
  condition,
  deleteForced,
  smallConfig,
  waitForCondition,
} from '../../harness/injector-configs.ts';
import type { OperatorProcess } from '../../harness/operator-process.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod } from '../../harness/workloads.ts';

/** Two InjectorConfigs of one revision: the older one stays, the younger one says why it does nothing, and takes over when it may. */
export async function checkOverlap(context: ScenarioContext, operator: OperatorProcess): Promise<void> {
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
  await context.check(
    'a second InjectorConfig of the same revision is refused, with the field and the first',
    async () => {
      try {
        await client.create(named('younger'), { dryRun: true });
        return false;
      } catch (error) {
        return /spec\.revision: InjectorConfig elder takes the same pods/.test(String(error));
      }
    },
  );
  // While nobody answers the validating webhook it is taken, and said by reconcile.
  operator.process.freeze();
  const { metadata } = await applyObject(client, named('younger')).finally(() => {
    operator.process.unfreeze();
  });
  const overlapped = await waitForCondition(client, 'younger', 'Ready', 'False', metadata.generation);
  await context.checkNow(
    'a second InjectorConfig of the same revision says Overlap and names the first',
    () =>
      condition(overlapped, 'Overlap')?.status === 'True' &&
      condition(overlapped, 'Overlap')?.message.includes('elder'),
  );
  await context.check('pods are injected once, by the first', async () => found(await containers(), 'elder,sleep'));
  await deleteForced(client, elder);
  await waitForCondition(client, 'younger', 'Ready', 'True');
  await context.check('the first goes, the second takes over', async () => found(await containers(), 'sleep,younger'));
}
