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
import { Losses } from '../harness/load/losses.ts';
import { markDefect, markedConfig, marksOf, recordedDefect } from '../harness/load/marked-config.ts';
import type { PodDefect } from '../harness/lost-admissions.ts';
import type { Pod } from '../harness/pod.ts';
import type { Replicas } from '../harness/replicas/replicas.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found, none, waitFor } from '../harness/wait-for.ts';
import { webhookOf } from '../harness/webhook-configurations.ts';
import { barePod } from '../harness/workloads.ts';

export const publication: Scenario = {
  name: 'publication',
  about:
    'many edits under load, some broken: each pod shows one whole configuration, and a late replica delays but never corrupts',
  destructive: 'it needs the embedded control plane and its audit log',
  full: '100 edits under load, about 3 minutes',
  run: async (context) => {
    const { size, seed } = context;
    const replicas = await context.startReplicas({ proxied: true });
    const namespace = await context.namespace('pods', { 'istio.io/rev': configName });
    await checkMixtureIsSeen(context);
    const readyAgainAfterMilliseconds = await checkAppliedAgain(context);
    const published = new Published(context, namespace);
    await published.ask('first');
    await published.waitFor('first');
    const audit = context.requireAudit();
    const load = await context.startLoad({ namespace, inspect: (pod) => published.inspect(pod) });
    const losses = new Losses(context, load, audit);

    const since = Date.now();
    const edits = await editManyTimes(published, size === 'full' ? 100 : 10, seed);
    await checkBrokenAndBack(published);
    await losses.checkNone(
      `${edits.good} new edits, ${edits.back} back to an earlier one, ${edits.broken} broken; ${published.marks.size} configurations seen in pods, each whole`,
      since,
    );
    await checkLateReplica(published, replicas, losses);
    const frozen = await checkFrozenReplica(published, replicas, losses);
    await load.stop();
    const { created, lost } = losses.report();
    const mixed = lost.filter(({ kind }) => kind !== 'refused').map(({ description }) => description);
    await context.checkNow(`of ${created} pods 0 were mixed or plain`, () => none(mixed));
    const configurationsSeen = published.marks.size;
    context.measured({ created, edits, configurationsSeen, mixed: 0, frozen, readyAgainAfterMilliseconds });
    return `${created} pods, ${edits.good + edits.back + edits.broken} edits (${edits.broken} broken): 0 mixed; a frozen replica: published after ${frozen.publishedAfterMilliseconds} ms, ${frozen.lost} of at most ${frozen.connections} lost`;
  },
};

/** The negative control: an InjectorConfig whose parts do not belong together gives pods that are seen to be mixed. */
async function checkMixtureIsSeen(context: ScenarioContext): Promise<void> {
  const mixture = markedConfig('mixture', 'one');
  mixture.spec.injection = { ...mixture.spec.injection, values: { mark: 'other' } };
  await applyUntilReady(context.client, mixture);
  const namespace = await context.namespace('mixture', { 'istio.io/rev': 'mixture' });
  await context.check('a pod made of two configurations would be seen', async () => {
    const pod = await dryRun(context.client, barePod(namespace, 'probe'));
    return markDefect(pod)?.kind === 'mixed';
  });
  await context.client.delete(await applyObject(context.client, mixture));
}

/** An InjectorConfig that is applied again has a new authority; replicas still hold the old pair. */
async function checkAppliedAgain(context: ScenarioContext): Promise<number[]> {
  const { client } = context;
  const took: number[] = [];
  for (let turn = 0; turn < 6; turn++) {
    const since = Date.now();
    const config = await applyObject(client, markedConfig('again', 'one'));
    await waitForCondition(client, 'again', 'Ready', 'True', config.metadata.generation);
    took.push(Date.now() - since);
    await client.delete(config);
    await waitFor('it to be gone', () => isGone(client, injectorConfigs, 'again'));
  }
  context.say(`applied, deleted and applied again: Ready after ${took.join(', ')} ms`);
  await context.checkNow('applied again five times: no Event warns', async () => {
    const warnings = (await eventsAbout(client, 'again')).filter(({ type }) => type === 'Warning');
    return none(warnings.map(({ message }) => message));
  });
  return took;
}

/** Edits one InjectorConfig again and again: new marks, old ones, broken ones; some are waited for, some overtake each other. */
async function editManyTimes(published: Published, count: number, seed: number) {
  const random = new Random(seed);
  const edits = { good: 0, broken: 0, back: 0 };
  const earlier: string[] = ['first'];
  for (let index = 1; index <= count; index++) {
    const isWaitedFor = random.chance(0.5);
    const choice = random.next();
    if (choice < 0.25) {
      edits.broken++;
      await published.askBroken(random.below(3));
      if (isWaitedFor) await published.waitForRefusal();
    } else {
      const isBack = choice < 0.5;
      edits[isBack ? 'back' : 'good']++;
      const mark = isBack ? random.pick(earlier) : `edit${index}`;
      earlier.push(mark);
      await published.ask(mark);
      if (isWaitedFor) await published.waitFor(mark);
    }
    if (!isWaitedFor) await sleep(random.below(400));
  }
  return edits;
}

/** After a broken edit the webhook stays where it is; taking it back is a rollback to the very configuration of before. */
async function checkBrokenAndBack(published: Published): Promise<void> {
  const { context } = published;
  await published.ask('stable');
  const stable = await published.waitFor('stable');
  await published.askBroken(0);
  await published.waitForRefusal();
  await context.check('a broken edit is refused, and pods go on as before', async () => {
    return (await published.hash()) === stable && (await published.shown()) === 'stable';
  });
  await published.ask('next');
  const next = await published.waitFor('next');
  await context.checkNow('the next good one is published', () => next !== stable);
  await published.ask('stable');
  const back = await published.waitFor('stable');
  await context.checkNow('editing back is a rollback: the same configuration as before', () => back === stable);
}

/** A replica that cannot load what is new holds the publication up until it can; until then everybody shows the old. */
async function checkLateReplica(published: Published, replicas: Replicas, losses: Losses): Promise<void> {
  const { context } = published;
  const late = replicas.webhooks[0]!;
  const since = Date.now();
  await published.ask('beforelate');
  await published.waitFor('beforelate');
  const match = { client: late.name, verbs: ['list', 'watch'], resources: ['configmaps'] };
  const cut = await replicas.proxy.fault({ match, action: { kind: 'cut' } });
  await published.ask('late');
  await context.check('one replica cannot load an edit: the webhook waits for it, by name', async () => {
    const reason = await published.reason();
    return reason.startsWith('WaitingForReplicas') && reason.includes(late.name);
  });
  await sleep(1500);
  await context.checkNow('and pods show what was there before', async () => (await published.shown()) === 'beforelate');
  const met = await cut.end();
  const ended = Date.now();
  await published.waitFor('late');
  await context.checkNow(
    `it can again (${met} attempts met the fault): published ${Date.now() - ended} ms later`,
    () => met > 0,
  );
  await losses.checkNone('a late replica', since);
}

/**
 * A replica that is frozen holds the publication up until its Lease has expired; thawed, it knows nothing of what is published and says so, and never answers
 * with anything else.
 */
async function checkFrozenReplica(published: Published, replicas: Replicas, losses: Losses) {
  const { context } = published;
  const frozen = replicas.webhooks[1]!;
  const froze = Date.now();
  frozen.operator.process.freeze();
  await published.ask('frozen');
  const { open } = await replicas.balancer.stuckOn(frozen.name, froze);
  const rest = replicas.webhooks.filter((each) => each !== frozen).map(({ name }) => name);
  await replicas.balancer.waitForRotation(rest);
  await published.waitFor('frozen');
  const publishedAfterMilliseconds = Date.now() - froze;
  // What hangs on it fails when its time is up, and nothing new goes there.
  await sleep(5500);
  const thawed = Date.now();
  frozen.operator.process.unfreeze();
  await replicas.waitUntilServing();
  await losses.checkNone('it goes on, late, and corrupts nothing', { askedSince: thawed });
  const { lost } = losses.report({ answeredSince: froze, askedBefore: thawed });
  await context.checkNow(
    `a replica is frozen: an edit is published without it after ${publishedAfterMilliseconds} ms; ${lost.length} lost, at most the ${open} that were connected to it`,
    () => lost.length <= open && lost.every(({ kind }) => kind === 'refused'),
  );
  return { lost: lost.length, connections: open, publishedAfterMilliseconds };
}

const configName = 'edited';
/** A frozen replica costs the API server this long for each connection that it has to it. */
const webhook = { timeoutSeconds: 5 };

class Published {
  readonly context: ScenarioContext;
  readonly good = new Set<string>();
  readonly marks = new Map<string, string>();
  readonly #namespace: string;

  constructor(context: ScenarioContext, namespace: string) {
    this.context = context;
    this.#namespace = namespace;
  }

  /** What is wrong with a stored pod: plain, a mixture, a mark that nobody published, or another mark than its configuration has. */
  inspect(pod: Pod): PodDefect | undefined {
    return recordedDefect(pod, this.marks, (mark) => this.good.has(mark));
  }

  async ask(mark: string): Promise<void> {
    this.good.add(mark);
    await applyObject(this.context.client, markedConfig(configName, mark, { webhook }));
  }

  /** Asks for something that must not be published: a template that does not compile, one without an end, or a mesh that cannot be read. */
  async askBroken(kind: number): Promise<void> {
    const config = markedConfig(configName, 'broken', { webhook });
    const { injection } = config.spec;
    const broken = [
      { templates: { sidecar: 'spec:\n  {{ if }}' } },
      { templates: { sidecar: '{{ range .Values }}' } },
      { meshConfig: { defaultConfig: { discoveryAddress: 'broken' } } },
    ];
    config.spec.injection = { ...injection, ...broken[kind % broken.length] };
    await applyObject(this.context.client, config);
  }

  async waitFor(mark: string): Promise<string> {
    await this.#waitForCondition('Ready', 'True');
    // The API server follows the webhook's path a few milliseconds late; and where a replica is frozen, asking takes more than one attempt.
    await waitFor('pods to show it', async () => found(await this.shown(), mark));
    return this.hash();
  }

  async waitForRefusal(): Promise<void> {
    await this.#waitForCondition('TemplatesValid', 'False');
  }

  async #waitForCondition(type: string, status: 'True' | 'False'): Promise<void> {
    const { client } = this.context;
    const { metadata } = await client.get(injectorConfigs, configName);
    await waitForCondition(client, configName, type, status, metadata.generation);
  }

  async shown(): Promise<string> {
    return marksOf(await dryRun(this.context.client, barePod(this.#namespace, 'probe'))).marks.join(' and ');
  }

  async hash(): Promise<string> {
    const { webhooks } = await webhookOf(this.context.client, configName);
    return webhooks[0]?.clientConfig.service?.path ?? '';
  }

  async reason(): Promise<string> {
    const ready = await conditionOf(this.context.client, configName, 'WebhookReady');
    return `${ready?.reason ?? ''}: ${ready?.message ?? ''}`;
  }
}
