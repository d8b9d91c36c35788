import { setTimeout as sleep } from 'node:timers/promises';
import type { ObjectMeta } from '../../src/api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { applyUntilReady, smallConfig } from '../harness/injector-configs.ts';
import { AdmissionRhythm } from '../harness/admission-rhythm.ts';
import { podReview } from '../harness/post-review.ts';
import { quantile } from '../harness/quantile.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { reviewTarget } from '../harness/webhook-configurations.ts';
import { barePod, neverScheduled } from '../harness/workloads.ts';
import { inBatches } from './label-truth-table/rows.ts';

const name = 'relist';
const sizes = { short: 2000, full: 10_000 };
/** The milliseconds for which the replica processes the list after its last page. */
const processingMs = 500;

export const relist: Scenario = {
  name,
  about: 'a single process lists all pods while it serves admissions, and Events report why a pod was not injected',
  destructive: 'it fills the cluster with thousands of pods',
  ownControlPlane: true,
  full: '10,000 pods, 2 minutes',
  alone: 'it measures CPU time and milliseconds of a relist',
  run: async (context) => {
    const { client } = context;
    const count = sizes[context.size];
    const audit = context.requireAudit();
    const installation = await context.install();
    const leader = await installation.startOperator({ name: 'relist-first' });
    await applyUntilReady(client, smallConfig(name));
    await checkEvents(context);
    await createManyPods(client, await context.namespace('many'), count);
    const next = await installation.startOperator({ name: 'relist-next' });
    const memoryBefore = next.residentMemory();
    const rhythm = new AdmissionRhythm(
      await reviewTarget(client, name, installation.namespace, next.webhookPort),
      podReview('relist'),
      () => next.process.pid,
    );
    await sleep(3000);
    const handOver = Date.now();
    await leader.process.stop(30_000);
    const listed = async () => {
      const line = /^injector_watched_objects\{resource="pods"\} (\d+)$/m.exec(await next.metrics());
      return Number(line?.[1] ?? 0) >= count && line?.[1];
    };
    const objects = await context.check('the new leader lists every pod', listed, { interval: 1000 });
    await sleep(1000);
    await rhythm.stop();

    const pages = audit
      .events()
      .filter(({ verb, objectRef }) => verb === 'list' && objectRef?.resource === 'pods')
      .filter(({ userAgent }) => userAgent?.includes('relist-next') === true);
    const from = Math.min(...pages.map((page) => Date.parse(page.requestReceivedTimestamp)));
    const to = Math.max(...pages.map((page) => Date.parse(page.stageTimestamp))) + processingMs;
    const during = rhythm.between(from, to);
    const before = rhythm.between(handOver - 2000, handOver);
    const times = during.map(({ milliseconds }) => milliseconds);
    const timesBefore = before.map(({ milliseconds }) => milliseconds);
    const heldUp = during.map((each) => each.heldUp);
    const memory = ((next.residentMemory() - memoryBefore) * 1024) / count;
    const figures = {
      pods: Number(objects),
      pages: pages.length,
      listMilliseconds: to - processingMs - from,
      admissionsDuring: during.length,
      p50Milliseconds: quantile(times, 0.5),
      p99Milliseconds: quantile(times, 0.99),
      p99HeldUpMilliseconds: quantile(heldUp, 0.99),
      p99MillisecondsBefore: quantile(timesBefore, 0.99),
      residentKibibytesPerPod: Math.round(memory * 10) / 10,
    };
    context.measured(figures);
    context.say(JSON.stringify(figures));
    await context.checkNow(
      'while the leader listed pods, each admission request got a patch',
      () => during.length > 20 && rhythm.admissions.every(({ injected }) => injected),
    );
    // In the short size, other processes delay responses, so check only the replica's own delay.
    const [what, p99Found, bound] =
      context.size === 'full'
        ? ['the response time while the leader listed pods', figures.p99Milliseconds, 10]
        : ['the delay that the replica itself caused', figures.p99HeldUpMilliseconds, 60];
    await context.checkNow(`the p99 of ${what} is at most ${bound} ms`, () => p99Found <= bound);
    return `${objects} pods in ${pages.length} pages within ${figures.listMilliseconds} ms; admission p99 ${figures.p99Milliseconds.toFixed(1)} ms (before: ${figures.p99MillisecondsBefore.toFixed(1)} ms)`;
  },
};

interface PodEvent {
  type: string;
  reason: string;
  regarding: ObjectMeta;
  reportingController?: string;
}

/** Checks that one Event per pod reports why the pod was not injected. */
async function checkEvents(context: ScenarioContext): Promise<void> {
  const { client } = context;
  const namespace = await context.namespace('pods', { 'istio.io/rev': name });
  await client.create(barePod(namespace, 'injected'));
  await client.create(barePod(namespace, 'host', { spec: { hostNetwork: true } }));
  await client.create(barePod(namespace, 'opted-out', { labels: { 'sidecar.istio.io/inject': 'false' } }));
  const elsewhere = await context.namespace('elsewhere', { 'istio-injection': 'disabled' });
  await client.create(barePod(elsewhere, 'asking', { labels: { 'sidecar.istio.io/inject': 'true' } }));
  const reasons = async () => {
    const { items } = await client.listAll<PodEvent>(resourceKind('events.k8s.io/v1', 'Event'));
    return items
      .filter(({ reportingController }) => reportingController === 'sidecar-injector.io/operator')
      .filter(({ regarding }) => [namespace, elsewhere].includes(regarding.namespace ?? ''))
      .map(({ type, reason, regarding }) => `${type} ${reason} ${regarding.name ?? ''}`)
      .sort();
  };
  await context.check('two Events report why two pods were not injected, and there are no other Events', async () => {
    return (await reasons()).join(', ') === 'Normal HostNetwork host, Warning NotSelected asking';
  });
}

/** Creates pods of a realistic size (6 KB) that are never scheduled, so that they do not change. */
async function createManyPods(client: ApiClient, namespace: string, count: number) {
  const env = Array.from({ length: 40 }, (_, index) => ({ name: `SETTING_${index}`, value: 'v'.repeat(60) }));
  await inBatches([...Array(count).keys()], 16, (index) => {
    const pod = barePod(namespace, `pod-${index}`, { labels: { 'pod-template-hash': '5d4f8c7b9' } });
    const [container] = pod.spec.containers;
    const spec = { ...pod.spec, ...neverScheduled, containers: [{ ...container, env }] };
    return client.create({ ...pod, spec });
  });
}
