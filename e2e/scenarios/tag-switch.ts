import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { badRevisionTags } from '../../src/api/testdata/bad-revision-tags.ts';
import { dryRun, refusalOf } from '../harness/admissions.ts';
import { applyObject, isGone, objectOf } from '../harness/apply.ts';
import type { AuditLog } from '../harness/audit-log.ts';
import {
  conditionOf,
  deleteForced,
  injectorConfigs,
  smallConfig,
  waitForCondition,
} from '../harness/injector-configs.ts';
import { checkDeadReplicas, lossesOf } from '../harness/load/losses.ts';
import { applyMarked, makerOf, markedConfig, recordedDefect } from '../harness/load/marked-config.ts';
import type { PodDefect } from '../harness/lost-admissions.ts';
import type { Pod } from '../harness/pod.ts';
import { applyTagUntilReady, removeTag, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { sideBySide } from '../harness/side-by-side.ts';
import { found, waitFor } from '../harness/wait-for.ts';
import { barePod } from '../harness/workloads.ts';

export const tagSwitch: Scenario = {
  name: 'tag-switch',
  about:
    'under load, no pod is lost when a namespace or a tag moves, when the default is switched and switched back, and when a revision is removed; the API server refuses invalid tags',
  destructive: 'it installs the default revision, and needs the audit log of the embedded control plane',
  full: 'a tag moves 100 times under load, about 6 minutes',
  run: async (context) => {
    const { client, size } = context;
    const replicas = await context.startReplicas({ webhooks: 2, controllers: 1, flags: ['--drain-seconds=2'] });
    await applyMarked(client, { v1: 'one', v2: 'two', default: 'zero' });
    await applyTagUntilReady(client, revisionTag('prod', 'v1'));
    const audit = context.requireAudit();
    const followers: Followers = {
      byRevision: await startFollower(context, audit, 'by-revision', { 'istio.io/rev': 'v1' }),
      byTag: await startFollower(context, audit, 'by-tag', { 'istio.io/rev': 'prod' }),
      byDefault: await startFollower(context, audit, 'by-default', { 'istio-injection': 'enabled' }),
    };

    await checkDeadReplicas(context, replicas, followers.byTag.losses);
    await checkWrongOrder(context, followers.byDefault);
    const moves = size === 'full' ? 50 : 1;
    const counts = await sideBySide(context, [
      moveNamespace(context, followers),
      moveTag(context, followers, moves),
      switchDefault(context, followers),
    ]);
    const created = counts.reduce((sum, count) => sum + count, await removeRevision(context, followers));
    await Promise.all(Object.values(followers).map(({ load }) => load.stop()));

    const refused = await checkRefusals(context);
    context.measured({ created, tagMoves: 2 * moves, lost: 0, refused });
    return `${created} pods created during the switches, 0 lost, 0 mixed; ${refused} invalid requests refused`;
  },
};

/**
 * Checks the negative control: the old default is removed before a new default is active, as
 * Istio's `tag set default` does. The test must detect pods that were stored without a sidecar.
 */
async function checkWrongOrder(context: ScenarioContext, byDefault: Follower): Promise<void> {
  const { client } = context;
  const config = markedConfig('default', 'zero');
  const began = Date.now();
  await applyObject(client, { ...config, spec: { ...config.spec, paused: true } });
  await context.check(
    'negative control: if the old default is removed before a new default is active, the test detects pods without a sidecar',
    () => byDefault.losses.report(began).lost.some(({ kind }) => kind === 'plain'),
  );
  await applyObject(client, { ...config, spec: { ...config.spec, paused: false } });
  await byDefault.waitUntilInjectedBy('default');
  const back = Date.now();
  await waitFor('pods to be created as before', () => {
    const makers = byDefault.makersSince(back);
    return makers.length > 0 && makers.every((each) => each === 'default');
  });
  await byDefault.losses.checkNone('after the default is restored', { askedSince: back });
}

type Followers = Readonly<Record<'byRevision' | 'byTag' | 'byDefault', Follower>>;

async function moveNamespace(context: ScenarioContext, { byRevision }: Followers): Promise<number> {
  let created = 0;
  for (const revision of ['v2', 'v1', 'v2']) {
    const began = Date.now();
    const target = objectOf('v1', 'Namespace', byRevision.namespace);
    await context.client.patch(target, 'merge', { metadata: { labels: { 'istio.io/rev': revision } } });
    created += await byRevision.checkSwitched(`after a new label moved a namespace to ${revision}`, revision, began);
  }
  return created;
}

async function moveTag(context: ScenarioContext, followers: Followers, rounds: number): Promise<number> {
  const { byTag } = followers;
  let created = 0;
  for (let round = 0; round < rounds; round += 1) {
    for (const revision of ['v2', 'v1']) {
      const began = Date.now();
      await applyObject(context.client, revisionTag('prod', revision));
      created += await byTag.checkSwitched(`after the tag was moved to ${revision}`, revision, began);
    }
  }
  return created + (await editWhileMoving(context, followers));
}

async function editWhileMoving(context: ScenarioContext, { byTag }: Followers): Promise<number> {
  const { client } = context;
  const began = Date.now();
  for (const mark of ['three', 'four', 'five']) {
    await Promise.all([
      applyObject(client, markedConfig('v2', mark)),
      applyObject(client, revisionTag('prod', mark === 'four' ? 'v1' : 'v2')),
    ]);
  }
  // The tag may have reached v2 and left it again.
  await applyTagUntilReady(client, revisionTag('prod', 'v2'));
  return byTag.checkSwitched('while a revision was edited and the tag moved to it and away from it', 'v2', began);
}

async function switchDefault(context: ScenarioContext, { byDefault }: Followers): Promise<number> {
  const { client } = context;
  let created = 0;
  for (const revision of ['v2', 'v1', 'default', 'v2']) {
    const began = Date.now();
    await applyObject(client, revisionTag('default', revision));
    created += await byDefault.checkSwitched(`after tag default switched the default to ${revision}`, revision, began);
  }
  await context.check('InjectorConfig default is Ready with reason Tagged', async () => {
    const ready = await conditionOf(client, 'default', 'Ready');
    return ready?.status === 'True' && found(ready.reason, 'Tagged');
  });
  const edited = await applyObject(client, markedConfig('default', 'later'));
  await waitForCondition(client, 'default', 'Ready', 'True', edited.metadata.generation);
  const began = Date.now();
  await removeTag(client, 'default');
  const statement = 'after tag default was deleted and InjectorConfig default was published again';
  created += await byDefault.checkSwitched(statement, 'default', began);
  const readiness = async () => (await conditionOf(client, 'default', 'Ready'))?.reason;
  await waitFor('InjectorConfig default to be Ready without a tag', async () => (await readiness()) === 'Serving');
  return created;
}

async function removeRevision(context: ScenarioContext, followers: Followers): Promise<number> {
  const { client } = context;
  const began = Date.now();
  await deleteForced(client, markedConfig('v1', 'one'));
  await context.check('an unused InjectorConfig is deleted completely', () => isGone(client, injectorConfigs, 'v1'));
  let created = 0;
  for (const { losses, namespace } of Object.values(followers)) {
    created += await losses.checkNone(`after the deletion of an unused revision, in ${namespace}`, began);
  }
  return created;
}

type Follower = Awaited<ReturnType<typeof startFollower>>;

/** Creates pods continuously in a namespace. Tracks losses and each pod's InjectorConfig. */
async function startFollower(context: ScenarioContext, audit: AuditLog, name: string, labels: Record<string, string>) {
  const namespace = await context.namespace(name, labels);
  /** The InjectorConfig that injected each pod. */
  const makers = new Map<string, string>();
  /** The mark of each configuration, to detect pods that mix two configurations. */
  const markOf = new Map<string, string>();
  const inspect = (pod: Pod): PodDefect | undefined => {
    makers.set(pod.metadata.name ?? '', makerOf(pod));
    return recordedDefect(pod, markOf);
  };
  const load = await context.startLoad({ namespace, perSecond: 20, replicaSetPods: 3, inspect });
  const losses = lossesOf(context, load, audit);
  const makersSince = (time: number) =>
    load.creations
      .filter(({ startedAt, failure }) => startedAt > time && failure === undefined)
      .map((creation) => makers.get(creation.name) ?? 'none');
  /** Waits until an InjectorConfig injects dry-run pods. Returns that time (ms since 1970). */
  const waitUntilInjectedBy = async (maker: string) => {
    const isMaker = async () => found(makerOf(await dryRun(context.client, barePod(namespace, 'probe'))), maker);
    await waitFor(`${maker} to inject pods of ${namespace}`, isMaker, { interval: 10 });
    return Date.now();
  };
  /** Checks that a switch lost no pod, and that all later pods have the new configuration. */
  const checkSwitched = async (statement: string, maker: string, began: number) => {
    const from = await waitUntilInjectedBy(maker);
    const created = await losses.checkNone(statement, began);
    const since = await waitFor(`pods of ${namespace} to be created after the switch`, () => {
      const all = makersSince(from);
      return all.length >= 20 && all;
    });
    await context.checkNow(
      `${maker} injects each of ${since.length} pods created later than ${from - began} ms after the request`,
      () => found(since.filter((each) => each !== maker).join(), ''),
    );
    return created;
  };
  return { namespace, load, losses, makersSince, waitUntilInjectedBy, checkSwitched };
}

/** Checks that the API server refuses each invalid object, and names the field and a remedy. */
async function checkRefusals(context: ScenarioContext): Promise<number> {
  const { client } = context;
  const second = smallConfig('second');
  second.spec['revision'] = 'v2';
  const custom = smallConfig('wide', { selection: 'Custom', objectSelector: { matchLabels: { team: 'a' } } });
  const rows: [what: string, object: KubernetesObject, message: RegExp][] = [
    ['a tag on another tag', revisionTag('canary', 'prod'), /spec\.revision prod: no InjectorConfig/],
    [
      'a tag named like a revision',
      revisionTag('v2', 'default'),
      /metadata\.name: InjectorConfig v2 selects the same pods.*give the tag another name/,
    ],
    [
      'a revision named like a tag',
      smallConfig('prod'),
      /spec\.revision: RevisionTag prod selects the same pods.*choose another revision/,
    ],
    ['a duplicate revision', second, /spec\.revision: InjectorConfig v2 selects the same pods/],
    [
      'selectors that overlap with those of revisions',
      custom,
      /spec\.webhook\.selection: InjectorConfig .* selects the same pods/,
    ],
    ...badRevisionTags.map(({ title, name, spec, field, message }): [string, KubernetesObject, RegExp] => [
      title,
      { ...revisionTag(name, ''), spec: spec },
      new RegExp(`${field.replaceAll(/[[\].]/g, '\\$&')}.*(${message.source})`, 's'),
    ]),
  ];
  const checkRefused = async (what: string, write: () => Promise<unknown>, message: RegExp) => {
    await context.check(`the API server refuses ${what}`, async () => {
      const said = (await refusalOf(write)) ?? 'it was accepted';
      if (message.test(said)) return true;
      throw new Error(said);
    });
  };
  for (const [what, object, message] of rows)
    await checkRefused(what, () => client.create(object, { dryRun: true }), message);
  return rows.length;
}
