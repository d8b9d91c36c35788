import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { dryRun, refusal } from '../harness/admissions.ts';
import { objectOf } from '../harness/apply.ts';
import { clusterFlags, runInjector } from '../harness/injector-command.ts';
import { applyUntilReady, checkCondition, smallConfig } from '../harness/injector-configs.ts';
import type { Replicas } from '../harness/replicas/replicas.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { none, waitFor } from '../harness/wait-for.ts';
import { barePod, deployment } from '../harness/workloads.ts';
import {
  cronJob,
  hasFailed,
  hasSidecar,
  isHeld,
  job,
  jobs,
  objectName,
  podsIn,
  workloads,
} from './hold/held-workloads.ts';
import { replaceablePod, untilHolding } from './hold/holding.ts';

const name = 'held';
/** The number of fake nodes of the embedded control plane. */
const nodes = 2;
/** The time from the recovery until every pod has its sidecar, in milliseconds. */
const recoveryMs = 60_000;

export const hold: Scenario = {
  name: 'hold',
  about:
    'with failurePolicy Hold, workloads are created while every replica is dead, then while none answers and the API server restarts: no creation fails, no pod starts without its sidecar, and all get it after the recovery',
  destructive: 'it kills all replicas and the API server',
  ownControlPlane: true,
  full: '2,000 pods and a CronJob, about 6 minutes',
  run: async (context) => {
    const { client, size } = context;
    const replicas = await context.startReplicas({}, { operator: { holdPods: true } });
    await applyUntilReady(client, smallConfig(name, { failurePolicy: 'Hold' }));
    await untilHolding(context, name);
    const namespace = await context.namespace('pods', { 'istio.io/rev': name });
    const total = size === 'full' ? 1000 : 30;
    const running = await runningJob(context, namespace);
    if (size === 'full') await client.create(cronJob(namespace, 'each-minute'));
    await checkControls(context, replicas);

    const audit = context.requireAudit();
    for (const replica of replicas.webhooks) await replicas.kill(replica);
    const killed = await createHeld(context, namespace, 'killed', total, running);
    for (const { operator } of replicas.webhooks) await operator.restart();
    const afterKill = await checkRecovered(context, namespace, killed, 'after the replicas were killed');

    for (const { operator } of replicas.webhooks) operator.process.freeze();
    const silent = await createHeld(context, namespace, 'silent', total, running);
    const controlPlane = context.requireControlPlane();
    await controlPlane.component('kube-apiserver').kill();
    await controlPlane.restart('kube-apiserver');
    for (const { operator } of replicas.webhooks) operator.process.unfreeze();
    const afterSilence = await checkRecovered(context, namespace, silent, 'after the replicas were frozen');

    const refused = audit
      .events()
      .filter(({ verb, objectRef }) => verb === 'create' && objectRef?.namespace === namespace)
      .filter(({ objectRef }) => objectRef?.resource === 'pods' && objectRef.subresource === undefined)
      .filter(({ responseStatus }) => (responseStatus?.code ?? 0) >= 400);
    await context.checkNow('no creation of a pod failed', () =>
      none(refused.map(({ responseStatus }) => responseStatus?.message ?? '')),
    );
    await checkRunning(context, namespace, running);
    await checkCondition(context, name, 'Holding', 'no pod waits', /^False \(NoPodHeld\)/);
    const pods = killed + silent;
    context.measured({ pods, afterKillMilliseconds: afterKill, afterSilenceMilliseconds: afterSilence });
    return `${pods} pods of all kinds of workloads: no creation failed, no pod ran without its sidecar, no Job failed; all were injected ${afterKill} ms after killed replicas and ${afterSilence} ms after silent replicas were back`;
  },
};

/** Starts a Job with two running pods; returns their uids. */
async function runningJob(context: ScenarioContext, namespace: string): Promise<string[]> {
  const { object } = job(namespace, 'running', 6, { parallelism: 2, backoffLimit: 0 }, true);
  await context.client.create(object);
  return waitFor('two pods of a Job to run', async () => {
    const found = (await podsIn(context, namespace)).filter(({ status }) => status?.phase === 'Running');
    return found.length === 2 && found.map(({ metadata }) => metadata.uid ?? '');
  });
}

/** Creates workloads while no replica answers. Resolves with the number of held pods. */
async function createHeld(
  context: ScenarioContext,
  namespace: string,
  prefix: string,
  total: number,
  running: readonly string[],
): Promise<number> {
  const { client } = context;
  const created = workloads(namespace, prefix, total, nodes);
  const before = (await podsIn(context, namespace)).length;
  for (const { object } of created) await client.create(object);
  const more = { spec: { parallelism: prefix === 'killed' ? 3 : 4 } };
  await client.patch(job(namespace, 'running', 6, {}).object, 'merge', more);
  const expected = created.reduce((sum, each) => sum + each.pods, 1);
  const heldPods = async () => {
    const all = (await podsIn(context, namespace)).filter(({ metadata }) => !running.includes(metadata.uid ?? ''));
    const found = all.filter(isHeld);
    if (found.length >= expected) return found;
    throw new Error(`${all.length - before} pods were created, ${found.length} are held`);
  };
  const statement = `${prefix} replicas: all ${expected} pods of the workloads are created and held`;
  const held = await context.check(statement, heldPods, { timeout: 180_000 });
  await checkNoneBare(context, namespace, `${prefix} replicas`);
  await checkCondition(context, name, 'Holding', 'pods wait', /^True \(PodsHeld\) \d+ pods wait for the sidecar/);
  await context.checkNow(`${prefix} replicas: injector status counts the held pods`, async () => {
    const { errors } = await runInjector(['status', ...clusterFlags(context.cluster)]);
    const [, counted = '0'] = /^(\d+) pods with scheduling gate hold\./m.exec(errors) ?? [];
    // A CronJob may have started another pod, and the leader may be replacing one.
    return Number(counted) >= expected || Promise.reject(new Error(errors));
  });
  return held.length;
}

/** Checks that every pod gets its sidecar, and that no Job failed. Resolves with the time in ms. */
async function checkRecovered(context: ScenarioContext, namespace: string, held: number, when: string) {
  const started = Date.now();
  const standstill = context.standstill();
  const noneIsHeld = async () => none((await podsIn(context, namespace)).filter(isHeld).map(objectName));
  await context.check(`${when}, no pod is held any more`, noneIsHeld, { timeout: 180_000 });
  const took = Date.now() - started;
  const allowed = recoveryMs + (await standstill.between(started, Date.now()));
  const statement = `${when}, ${held} held pods were replaced within ${recoveryMs / 1000} s`;
  await context.checkNow(statement, () => took <= allowed);
  await checkNoneBare(context, namespace, when);
  await context.checkNow(`${when}, no Job has failed, and no failed pod is counted`, async () =>
    none((await context.client.listAll(jobs, { namespace })).items.filter(hasFailed).map(objectName)),
  );
  await context.check(`${when}, every workload is complete`, async () => none(await incomplete(context, namespace)));
  return took;
}

function checkNoneBare(context: ScenarioContext, namespace: string, when: string): Promise<true> {
  return context.checkNow(`${when}: no pod without its sidecar is scheduled`, async () => {
    const all = await podsIn(context, namespace);
    return none(all.filter((pod) => pod.spec.nodeName !== undefined && !hasSidecar(pod, name)).map(objectName));
  });
}

/** Checks that the pods that ran before the faults still run, so the Job kept them. */
async function checkRunning(context: ScenarioContext, namespace: string, uids: readonly string[]): Promise<void> {
  await context.checkNow('the pods of a Job that ran before are the same, and still run', async () => {
    const found = (await podsIn(context, namespace)).filter(({ metadata }) => uids.includes(metadata.uid ?? ''));
    return found.length === uids.length && found.every(({ status }) => status?.phase === 'Running');
  });
}

/** Returns the workloads that lack pods. */
async function incomplete({ client }: ScenarioContext, namespace: string): Promise<string[]> {
  const lacking: string[] = [];
  for (const kind of ['Deployment', 'StatefulSet', 'DaemonSet']) {
    const { items } = await client.listAll<Counted>(resourceKind('apps/v1', kind), { namespace });
    for (const each of items) {
      const { replicas = each.status?.desiredNumberScheduled } = each.spec;
      const ready = each.status?.readyReplicas ?? each.status?.numberReady ?? 0;
      if (ready !== replicas) lacking.push(`${kind} ${objectName(each)}: ${ready} of ${replicas ?? 0}`);
    }
  }
  const { items } = await client.listAll<Counted>(jobs, { namespace });
  for (const each of items) {
    const { succeeded = 0 } = each.status ?? {};
    const isEndless = each.metadata.name === 'running';
    if (!isEndless && succeeded !== each.spec.completions) lacking.push(`Job ${objectName(each)}: ${succeeded}`);
  }
  return lacking;
}

interface Counted extends KubernetesObject {
  spec: { replicas?: number; completions?: number };
  status?: { readyReplicas?: number; numberReady?: number; desiredNumberScheduled?: number; succeeded?: number };
}

const control = 'control';

/**
 * Shows that the scenario detects what it demands: lost creations, pods without their sidecar, and
 * pods that stay held. Uses its own InjectorConfigs.
 */
async function checkControls(context: ScenarioContext, replicas: Replicas): Promise<void> {
  const { client } = context;
  await applyUntilReady(client, smallConfig(control, { failurePolicy: 'Hold' }));
  await applyUntilReady(client, smallConfig('failing', { failurePolicy: 'Fail' }));
  await applyUntilReady(client, smallConfig('ignoring', { failurePolicy: 'Ignore' }));
  const failing = await context.namespace('failing', { 'istio.io/rev': 'failing' });
  const ignoring = await context.namespace('ignoring', { 'istio.io/rev': 'ignoring' });
  const left = await context.namespace('left', { 'istio.io/rev': control });
  await untilHolding(context, control);
  for (const { operator } of replicas.controllers) operator.process.freeze();

  // The leader would restore the policy.
  const policy = objectOf('admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicy', `sidecar-injector-${control}`);
  const isGatedAgain = async (): Promise<boolean> => {
    const pod = await dryRun(client, replaceablePod(left, 'pod'));
    return hasSidecar(pod, control) && isHeld(pod);
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
    hasSidecar(await dryRun(client, replaceablePod(left, 'pod')), control),
  );
  await context.checkNow('negative control: without a leader, a held pod is left behind', async () =>
    (await podsIn(context, left)).some(isHeld),
  );
  for (const { operator } of replicas.controllers) operator.process.unfreeze();
  await context.check('a leader replaces the pod that was left behind', async () =>
    (await podsIn(context, left)).every((pod) => !isHeld(pod) && hasSidecar(pod, control)),
  );
}
