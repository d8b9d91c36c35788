import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../scripts/template-recorder/random.ts';
import { dryRun } from '../harness/admissions.ts';
import { applyObject, isGone } from '../harness/apply.ts';
import {
  applyUntilReady,
  conditionOf,
  eventsAbout,
  injectorConfigs,
  waitForCondition,
} from '../harness/injector-configs.ts';
import { lossesOf, type Losses } from '../harness/load/losses.ts';
import { markDefect, markedConfig, marksOf, recordedDefect } from '../harness/load/marked-config.ts';
import type { PodDefect } from '../harness/lost-admissions.ts';
import { shortLeases } from '../harness/operator-process.ts';
import type { Pod } from '../harness/pod.ts';
import type { Replicas } from '../harness/replicas/replicas.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found, none, waitFor } from '../harness/wait-for.ts';
import { webhookOf } from '../harness/webhook-configurations.ts';
import { barePod } from '../harness/workloads.ts';

export const publication: Scenario = {
  name: 'publication',
  about:
    'during many edits under load, some of them invalid, each pod comes from exactly one configuration; a late replica only delays the publication',
  destructive: 'it needs the embedded control plane and its audit log',
  full: '100 edits under load, about 3 minutes',
  run: async (context) => {
    const { size, seed } = context;
    const replicas = await context.startReplicas({ proxied: true, flags: [shortLeases] });
    const namespace = await context.namespace('pods', { 'istio.io/rev': configName });
    await checkMixtureDetected(context);
    const readyAgainAfterMilliseconds = await checkAppliedAgain(context);
    const published = publishedIn(context, namespace);
    await published.apply('first');
    await published.waitFor('first');
    const audit = context.requireAudit();
    const load = await context.startLoad({ namespace, inspect: published.inspect });
    const losses = lossesOf(context, load, audit);

    const since = Date.now();
    const edits = await editManyTimes(published, size === 'full' ? 100 : 10, seed);
    await checkBrokenAndBack(published);
    await losses.checkNone(
      `during ${edits.good} new edits, ${edits.back} edits back to an earlier spec and ${edits.broken} invalid edits, with ${published.marks.size} configurations seen in pods`,
      since,
    );
    await checkLateReplica(published, replicas, losses);
    const frozen = await checkFrozenReplica(published, replicas, losses);
    await load.stop();
    const { created, lost } = losses.report();
    const mixed = lost.filter(({ kind }) => kind !== 'refused').map(({ description }) => description);
    await context.checkNow(`none of ${created} pods was mixed or without a sidecar`, () => none(mixed));
    const configurationsSeen = published.marks.size;
    context.measured({ created, edits, configurationsSeen, mixed: 0, frozen, readyAgainAfterMilliseconds });
    return `${created} pods created, ${edits.good + edits.back + edits.broken} edits (${edits.broken} invalid), 0 pods mixed; with a frozen replica, an edit was published after ${frozen.publishedAfterMilliseconds} ms, and ${frozen.lost} pods were lost on its ${frozen.connections} connections`;
  },
};

/** Checks the negative control: the test detects a pod whose parts have different marks. */
async function checkMixtureDetected(context: ScenarioContext): Promise<void> {
  const mixture = markedConfig('mixture', 'one');
  mixture.spec.injection = { ...mixture.spec.injection, values: { mark: 'other' } };
  await applyUntilReady(context.client, mixture);
  const namespace = await context.namespace('mixture', { 'istio.io/rev': 'mixture' });
  await context.check('negative control: the test detects a pod from two configurations', async () => {
    const pod = await dryRun(context.client, barePod(namespace, 'probe'));
    return markDefect(pod)?.kind === 'mixed';
  });
  await context.client.delete(await applyObject(context.client, mixture));
}

/** Checks a recreated InjectorConfig while replicas still have its old certificate and key. */
async function checkAppliedAgain(context: ScenarioContext): Promise<number[]> {
  const { client } = context;
  const took: number[] = [];
  for (let turn = 0; turn < 6; turn++) {
    const since = Date.now();
    const config = await applyObject(client, markedConfig('again', 'one'));
    await waitForCondition(client, 'again', 'Ready', 'True', config.metadata.generation);
    took.push(Date.now() - since);
    await client.delete(config);
    await waitFor('the InjectorConfig to be deleted', () => isGone(client, injectorConfigs, 'again'));
  }
  context.say(`an InjectorConfig that was applied and deleted six times was Ready after ${took.join(', ')} ms`);
  await context.checkNow('an InjectorConfig that was applied again five times has no Warning Event', async () => {
    const warnings = (await eventsAbout(client, 'again')).filter(({ type }) => type === 'Warning');
    return none(warnings.map(({ message }) => message));
  });
  return took;
}

/** Makes new edits, invalid edits and reverts. Waits for the publication of half of them. */
async function editManyTimes(published: Published, count: number, seed: number) {
  const random = new Random(seed);
  const edits = { good: 0, broken: 0, back: 0 };
  const earlier: string[] = ['first'];
  for (let index = 1; index <= count; index++) {
    const mustWait = random.chance(0.5);
    const choice = random.next();
    if (choice < 0.25) {
      edits.broken++;
      await published.applyInvalid(random.below(3));
      if (mustWait) await published.waitForRefusal();
    } else {
      const isBack = choice < 0.5;
      edits[isBack ? 'back' : 'good']++;
      const mark = isBack ? random.pick(earlier) : `edit${index}`;
      earlier.push(mark);
      await published.apply(mark);
      if (mustWait) await published.waitFor(mark);
    }
    if (!mustWait) await sleep(random.below(400));
  }
  return edits;
}

/** Checks that an invalid edit publishes nothing, and that a reverted edit restores the path. */
async function checkBrokenAndBack(published: Published): Promise<void> {
  const { context } = published;
  await published.apply('stable');
  const stable = await published.waitFor('stable');
  await published.applyInvalid(0);
  await published.waitForRefusal();
  await context.check('an invalid edit is refused, and pods still get the published configuration', async () => {
    return (await published.path()) === stable && (await published.podMark()) === 'stable';
  });
  await published.apply('next');
  const next = await published.waitFor('next');
  await context.checkNow('the next valid edit is published', () => next !== stable);
  await published.apply('stable');
  const back = await published.waitFor('stable');
  await context.checkNow('an edit back to an earlier spec publishes the same path again', () => back === stable);
}

/** Checks that a replica that cannot load an edit delays the publication, but affects no pod. */
async function checkLateReplica(published: Published, replicas: Replicas, losses: Losses): Promise<void> {
  const { context } = published;
  const late = replicas.webhooks[0]!;
  const since = Date.now();
  await published.apply('beforelate');
  await published.waitFor('beforelate');
  const match = { client: late.name, verbs: ['list', 'watch'], resources: ['configmaps'] };
  const cut = await replicas.proxy.fault({ match, action: { kind: 'cut' } });
  await published.apply('late');
  await context.check('WebhookReady names the replica that cannot load an edit', async () => {
    const reason = await published.reason();
    return reason.startsWith('WaitingForReplicas') && reason.includes(late.name);
  });
  await sleep(1500);
  await context.checkNow('pods still get the previous edit', async () => (await published.podMark()) === 'beforelate');
  const affected = await cut.end();
  const ended = Date.now();
  await published.waitFor('late');
  await context.checkNow(
    `the edit is published ${Date.now() - ended} ms after the fault ends, which cut ${affected} requests`,
    () => affected > 0,
  );
  await losses.checkNone('with a late replica', since);
}

/**
 * Checks that a frozen replica delays a publication only until its Lease expires, and that no pod
 * gets an old configuration after the replica continues.
 */
async function checkFrozenReplica(published: Published, replicas: Replicas, losses: Losses) {
  const { context } = published;
  const frozen = replicas.webhooks[1]!;
  const froze = Date.now();
  frozen.operator.process.freeze();
  await published.apply('frozen');
  const open = await replicas.balancer.stuckOn(frozen.name, froze);
  const rest = replicas.webhooks.filter((each) => each !== frozen).map(({ name }) => name);
  await replicas.balancer.waitForRotation(rest);
  await published.waitFor('frozen');
  const publishedAfterMilliseconds = Date.now() - froze;
  // Wait until the requests to the frozen replica have timed out. It gets no new requests.
  await sleep((webhook.timeoutSeconds + 0.5) * 1000);
  const thawed = Date.now();
  frozen.operator.process.unfreeze();
  await replicas.waitUntilServing();
  await losses.checkNone('after the frozen replica continues', { askedSince: thawed });
  const { lost } = losses.report({ answeredSince: froze, askedBefore: thawed });
  await context.checkNow(
    `an edit is published ${publishedAfterMilliseconds} ms after a replica froze; ${lost.length} pods are lost, at most one for each of the replica's ${open} connections`,
    () => lost.length <= open && lost.every(({ kind }) => kind === 'refused'),
  );
  return { lost: lost.length, connections: open, publishedAfterMilliseconds };
}

const configName = 'edited';
// A frozen replica delays one request of the API server per connection by `timeoutSeconds`.
const webhook = { timeoutSeconds: 3 };

type Published = ReturnType<typeof publishedIn>;

/** Applies edits of an InjectorConfig, and reads what is published for pods of a namespace. */
function publishedIn(context: ScenarioContext, namespace: string) {
  const { client } = context;
  const good = new Set<string>();
  /** The mark of each configuration that was seen in pods. */
  const marks = new Map<string, string>();
  const waitUntil = async (type: string, status: 'True' | 'False'): Promise<void> => {
    const { metadata } = await client.get(injectorConfigs, configName);
    await waitForCondition(client, configName, type, status, metadata.generation);
  };
  const podMark = async () => marksOf(await dryRun(client, barePod(namespace, 'probe'))).marks.join(' and ');
  const path = async () => (await webhookOf(client, configName)).webhooks[0]?.clientConfig.service?.path ?? '';
  return {
    context,
    marks,
    podMark,
    path,

    /** Returns the defect of a pod: no sidecar, several marks, or a mark that is not expected. */
    inspect: (pod: Pod): PodDefect | undefined => recordedDefect(pod, marks, (mark) => good.has(mark)),

    apply: async (mark: string): Promise<void> => {
      good.add(mark);
      await applyObject(client, markedConfig(configName, mark, { webhook }));
    },

    /** Applies an invalid edit: a template that does not parse, or an invalid mesh config. */
    applyInvalid: async (kind: number): Promise<void> => {
      const config = markedConfig(configName, 'broken', { webhook });
      const { injection } = config.spec;
      const broken = [
        { templates: { sidecar: 'spec:\n  {{ if }}' } },
        { templates: { sidecar: '{{ range .Values }}' } },
        { meshConfig: { defaultConfig: { discoveryAddress: 'broken' } } },
      ];
      config.spec.injection = { ...injection, ...broken[kind % broken.length] };
      await applyObject(client, config);
    },

    waitFor: async (mark: string): Promise<string> => {
      await waitUntil('Ready', 'True');
      // The API server uses a new path some ms later. With a frozen replica, dry runs may time out.
      await waitFor(`pods to have the mark ${mark}`, async () => found(await podMark(), mark));
      return path();
    },

    waitForRefusal: () => waitUntil('TemplatesValid', 'False'),

    reason: async (): Promise<string> => {
      const ready = await conditionOf(client, configName, 'WebhookReady');
      return `${ready?.reason ?? ''}: ${ready?.message ?? ''}`;
    },
  };
}
