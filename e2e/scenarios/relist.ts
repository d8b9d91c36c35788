import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { objectNames, serviceHostName } from '../../src/api/names.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { applyUntilReady, smallConfig } from '../harness/injector-configs.ts';
import type { ReviewTarget } from '../harness/post-review.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { barePod } from '../harness/workloads.ts';
import { AdmissionRhythm, percentile } from './relist/admission-rhythm.ts';

const name = 'relist';
const sizes = { short: 2000, full: 10_000 };
const perSecond = 50;
/** What follows the last page: taking the list over. Milliseconds. */
const takeOverMs = 500;

/** The leader follows all pods of the cluster, and whoever asks a process that does everything for an admission does not notice. */
export const relist: Scenario = {
  name,
  about:
    'a process that does everything lists all pods while it answers admissions, and tells why one was not injected',
  destructive: 'it fills the cluster with thousands of pods',
  ownControlPlane: true,
  full: '10,000 pods, 2 minutes',
  run: async (context) => {
    const { client } = context;
    const count = sizes[context.size];
    const audit = context.startAudit();
    if (audit === undefined) return 'no audit log to read on a cluster of your own';
    const installation = await context.install();
    const leader = await installation.startOperator({ name: 'relist-first' });
    await applyUntilReady(client, smallConfig(name));
    await checkEvents(context);
    await createManyPods(client, await context.namespace('many'), count);
    const next = await installation.startOperator({ name: 'relist-next' });
    const memoryBefore = next.residentMemory();
    const rhythm = new AdmissionRhythm(
      await targetOf(context, installation.namespace, next.webhookPort),
      review(),
      perSecond,
      () => next.process.pid,
    );
    await new Promise((resolve) => setTimeout(resolve, 3000));
    const handOver = Date.now();
    await leader.process.stop(30_000);
    const listed = async () => {
      const line = /^injector_watched_objects\{resource="pods"\} (\d+)$/m.exec(await next.metrics());
      return Number(line?.[1] ?? 0) >= count && line?.[1];
    };
    const objects = await context.check('the next leader has listed every pod', listed, {
      timeout: 60_000,
      interval: 1000,
    });
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await rhythm.stop();

    const pages = audit
      .events()
      .filter(
        ({ verb, objectRef, userAgent }) =>
          verb === 'list' && objectRef?.resource === 'pods' && userAgent?.includes('relist-next') === true,
      )
      .map(
        ({ requestReceivedTimestamp, stageTimestamp }) =>
          [Date.parse(requestReceivedTimestamp), Date.parse(stageTimestamp)] as const,
      );
    const from = Math.min(...pages.map(([received]) => received));
    const to = Math.max(...pages.map(([, answered]) => answered)) + takeOverMs;
    const during = rhythm.between(from, to);
    const before = rhythm.between(handOver - 2000, handOver);
    const p99 = (of: typeof during) =>
      percentile(
        of.map(({ milliseconds }) => milliseconds),
        0.99,
      );
    const memory = ((next.residentMemory() - memoryBefore) * 1024) / count;
    const figures = {
      pods: Number(objects),
      pages: pages.length,
      listMilliseconds: to - takeOverMs - from,
      admissionsDuring: during.length,
      p50Milliseconds: percentile(
        during.map(({ milliseconds }) => milliseconds),
        0.5,
      ),
      p99Milliseconds: p99(during),
      p99HeldUpMilliseconds: percentile(
        during.map(({ heldUp }) => heldUp),
        0.99,
      ),
      p99MillisecondsBefore: p99(before),
      residentKibibytesPerPod: Math.round(memory * 10) / 10,
    };
    context.measured(figures);
    context.say(JSON.stringify(figures));
    await context.checkNow(
      'each admission meanwhile was answered with a patch',
      () => during.length > 20 && rhythm.admissions.every(({ injected }) => injected),
    );
    // In the short size other things run beside it, for which admissions wait; what counts is how long the list holds up the event loop.
    const [what, p99Found, bound] =
      context.size === 'full'
        ? ['an admission meanwhile', figures.p99Milliseconds, 10]
        : ['what the replica itself made an admission wait', figures.p99HeldUpMilliseconds, 60];
    await context.checkNow(`p99 of ${what} is at most ${bound} ms`, () => p99Found <= bound);
    return `${objects} pods in ${pages.length} pages within ${figures.listMilliseconds} ms; admission p99 ${figures.p99Milliseconds.toFixed(1)} ms (before: ${figures.p99MillisecondsBefore.toFixed(1)} ms)`;
  },
};

/** Why a pod was not injected stands in an Event about it, once. */
async function checkEvents(context: ScenarioContext): Promise<void> {
  const { client } = context;
  const namespace = await context.namespace('pods', { 'istio.io/rev': name });
  await client.create(barePod(namespace, 'injected'));
  await client.create(barePod(namespace, 'host', { spec: { hostNetwork: true } }));
  await client.create(barePod(namespace, 'opted-out', { labels: { 'sidecar.istio.io/inject': 'false' } }));
  const elsewhere = await context.namespace('elsewhere', { 'istio-injection': 'disabled' });
  await client.create(barePod(elsewhere, 'asking', { labels: { 'sidecar.istio.io/inject': 'true' } }));
  const told = async () => {
    const events = resourceKind('events.k8s.io/v1', 'Event');
    const { items } = await client.listAll<
      KubernetesObject & { regarding: KubernetesObject['metadata']; reportingController?: string }
    >(events);
    return items
      .filter(
        ({ reportingController, regarding }) =>
          reportingController === 'sidecar-injector.io/operator' &&
          [namespace, elsewhere].includes(regarding.namespace ?? ''),
      )
      .map(({ type, reason, regarding }) => `${String(type)} ${String(reason)} ${regarding.name ?? ''}`)
      .sort();
  };
  await context.check('Events tell why two pods were not injected, and nothing of the others', async () => {
    return (await told()).join(', ') === 'Normal HostNetwork host, Warning NotSelected asking';
  });
}

async function targetOf(context: ScenarioContext, namespace: string, port: number): Promise<ReviewTarget> {
  const { service, webhookConfiguration } = objectNames(name);
  const kind = resourceKind('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration');
  const { webhooks } = await context.client.get<
    KubernetesObject & { webhooks: { clientConfig: { caBundle: string; service: { path: string } } }[] }
  >(kind, webhookConfiguration);
  const { caBundle = '', service: { path } = { path: '' } } = webhooks[0]?.clientConfig ?? {};
  const authority = Buffer.from(caBundle, 'base64').toString('utf8');
  return { port, path, serverName: serviceHostName(service, namespace), authority };
}

function review(): string {
  const request = {
    uid: 'relist',
    kind: { group: '', version: 'v1', kind: 'Pod' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    namespace: 'workloads',
    operation: 'CREATE',
    object: barePod('workloads', 'pod'),
  };
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request });
}

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
