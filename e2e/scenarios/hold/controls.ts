import { dryRun, refusal } from '../../harness/admissions.ts';
import { objectOf } from '../../harness/apply.ts';
import { applyUntilReady, smallConfig } from '../../harness/injector-configs.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod, deployment } from '../../harness/workloads.ts';
import { hasSidecar, isHeld, podsIn } from './held-workloads.ts';
import { replaceablePod, untilHolding } from './holding.ts';

/**
 * Shows that the scenario detects what it demands: lost creations, pods without their sidecar, and
 * pods that stay held. Uses its own InjectorConfigs.
 */
export async function checkControls(context: ScenarioContext, replicas: Replicas): Promise<void> {
  const { client } = context;
  const name = 'control';
  await applyUntilReady(client, smallConfig(name, { failurePolicy: 'Hold' }));
  await applyUntilReady(client, smallConfig('failing', { failurePolicy: 'Fail' }));
  await applyUntilReady(client, smallConfig('ignoring', { failurePolicy: 'Ignore' }));
  const failing = await context.namespace('failing', { 'istio.io/rev': 'failing' });
  const ignoring = await context.namespace('ignoring', { 'istio.io/rev': 'ignoring' });
  const left = await context.namespace('left', { 'istio.io/rev': name });
  await untilHolding(context, name);
  for (const { operator } of replicas.controllers) operator.process.freeze();

  // The leader would restore the policy.
  const policy = objectOf('admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicy', `sidecar-injector-${name}`);
  const isGatedAgain = async (): Promise<boolean> => {
    const pod = await dryRun(client, replaceablePod(left, 'pod'));
    return hasSidecar(pod, name) && isHeld(pod);
  };
  await context.checkNow('an injected pod has no gate', async () => !(await isGatedAgain()));
  await client.patch(policy, 'merge', { spec: { reinvocationPolicy: 'IfNeeded' } });
  await context.check('negative control: reinvocationPolicy IfNeeded would add the gate again', isGatedAgain);
  await client.patch(policy, 'merge', { spec: { reinvocationPolicy: 'Never' } });
  await context.check('with Never, an injected pod has no gate', async () => !(await isGatedAgain()));

  for (const replica of replicas.webhooks) await replicas.kill(replica);
  await context.check('negative control: with Fail, creations are refused', async () =>
    (await refusal(client, barePod(failing, 'pod')))?.includes('failed calling webhook'),
  );
  await client.create(deployment(ignoring, 'bare'));
  await context.check('negative control: with Ignore, a pod is scheduled without its sidecar', async () =>
    (await podsIn(context, ignoring)).some((pod) => pod.spec.nodeName !== undefined && !hasSidecar(pod, 'ignoring')),
  );
  await client.create(deployment(left, 'left'));
  await context.check('a pod that cannot be held falls back to Fail', async () =>
    (await refusal(client, barePod(left, 'pod')))?.includes('failed calling webhook'),
  );
  await context.check('a pod of a Deployment is held', async () => (await podsIn(context, left)).some(isHeld));
  for (const { operator } of replicas.webhooks) await operator.restart();
  await replicas.waitUntilServing();
  await context.check('the webhook injects again', async () =>
    hasSidecar(await dryRun(client, replaceablePod(left, 'pod')), name),
  );
  await context.checkNow('negative control: without a leader, a held pod is left behind', async () =>
    (await podsIn(context, left)).some(isHeld),
  );
  for (const { operator } of replicas.controllers) operator.process.unfreeze();
  await context.check('a leader replaces the pod that was left behind', async () =>
    (await podsIn(context, left)).every((pod) => !isHeld(pod) && hasSidecar(pod, name)),
  );
}
