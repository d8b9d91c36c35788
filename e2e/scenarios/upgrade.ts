import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { applyAll } from '../harness/apply.ts';
import { chartWorkloads } from '../harness/chart-workloads.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { Losses } from '../harness/load/losses.ts';
import { markDefect, markedConfig } from '../harness/load/marked-config.ts';
import { paths, repository } from '../harness/paths.ts';
import type { Pod } from '../harness/pod.ts';
import type { Replicas } from '../harness/replicas/replicas.ts';
import { beginRotation } from '../harness/rotations.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { earlierBundle, nextBundle, objectsOf, previousRelease } from '../harness/versions.ts';
import { found } from '../harness/wait-for.ts';
import { WebhookWrites } from '../harness/webhook-writes.ts';
import { SmallRollout } from './canary-cases/small-rollout.ts';

const count = 4;
/** A minute is a second: an authority is confirmed for 20 s. */
const certificate = { leafDuration: '4h', caDuration: '48h', confirmationPeriod: '20m' };
const flags = ['--test-certificate-time-scale=60', '--drain-seconds=2'];

export const upgrade: Scenario = {
  name: 'upgrade',
  about:
    'from the release before to this version and back, then to a next one that writes other paths and back, in a rotation and in a rollout, a pod every 20 ms: 0 lost, no share changes, nothing is written twice; paths that are written too early lose',
  destructive: 'it needs the embedded control plane and its audit log',
  full: 'the same, and with the roles in each order, about 6 minutes',
  run: async (context) => {
    const { client, size } = context;
    const [earlier, current, newer, hasty] = await Promise.all([
      earlierBundle(previousRelease),
      paths.injector,
      nextBundle('2'),
      nextBundle('1'),
    ]);
    const { name: scenario } = context;
    const render = (system: string): KubernetesObject[] => objectsOf(earlier, system);
    const replicas = await context.startReplicas({ webhooks: 2, controllers: 2, flags, bundle: earlier, render });
    await applyUntilReady(client, markedConfig('v1', 'one', { certificate }));
    await applyUntilReady(client, markedConfig('v2', 'two', { certificate }));
    const audit = context.requireAudit();
    const [rolled, back] = await Promise.all([
      SmallRollout.open(context, audit, { tag: 'rolled', count }),
      SmallRollout.open(context, audit, { tag: 'back', count }),
    ]);
    await rolled.edit('v2', [25, 50, 75, 100]);
    await Promise.all([rolled.pausedAt(25, 'v2'), back.rollBack('v2')]);
    const namespace = await context.namespace('pods', { 'istio.io/rev': 'back' });
    const inspect = (pod: Pod) => markDefect(pod, (mark) => mark === 'one');
    const losses = new Losses(context, await context.startLoad({ namespace, inspect, perSecond: 50 }), audit);
    const since = Date.now();

    const stays = async (version: string, weight: number): Promise<void> => {
      await rolled.check(`${version}: the same ${weight} percent`, await rolled.renewed(), rolled.share(weight));
      await back.checkAll(`${version}: nobody has the canary`, 'v1');
      await context.checkNow(`${version}: the tag that was rolled back says so still`, async () =>
        found((await back.state()).phase, 'RolledBack'),
      );
    };
    const writes = await WebhookWrites.open(context, audit, replicas.installation.username);
    const [there, again] = ['this version', 'the release before again'];
    const otherOrder = [
      [there, current, 'webhooks', 25, 25],
      [again, earlier, 'controllers', 25, 25],
    ] as const;
    for (const [version, bundle, first, weight, next] of [
      ...(size === 'full' ? otherOrder : []),
      [there, current, 'controllers', 25, 50],
      [again, earlier, 'webhooks', 50, 75],
    ] as const) {
      const before = `${await rolled.path()} ${await back.path()}`;
      const objects = objectsOf(bundle, replicas.installation.namespace);
      await installChart(context, replicas, objects);
      const rotation = await beginRotation(context, 'v1');
      const isWithin = async (): Promise<boolean> => found(await rotation.state(), 'Accepted');
      await Promise.all([
        context.checkNow(`${version}, ${first} first: the authority is being replaced as well`, isWithin),
        replaceAll(replicas, bundle, first),
      ]);
      // As helm leaves them: the definitions follow when all processes have.
      await applyAll(client, objects.filter(isDefinition));
      await rotation.ended();
      await context.checkNow(`${version}: both tags lead where they led`, async () =>
        found(`${await rolled.path()} ${await back.path()}`, before),
      );
      await stays(version, weight);
      await losses.checkNone(`${version}, ${first} first`, since);
      if (next > weight) await rolled.ask('resume', `to-${next}`);
      await rolled.pausedAt(next, 'v2');
    }
    await installChart(context, replicas, objectsOf(current, replicas.installation.namespace));
    await replaceAll(replicas, current);
    await stays('this version, both roles at once', 75);
    await context.check('each write of a webhook has made a version', () => {
      const { successful, versions } = writes.count();
      return found(String(successful), String(versions));
    });
    const { successful, conflicts } = writes.count();
    await context.checkNow('no webhook was written again as it had been before', () => found(writes.returned(), ''));
    const first = await losses.checkNone('between the release before and this version', since);

    const tooEarly = Date.now();
    await replaceRole(replicas, hasty, 'controllers');
    await context.check('a leader that writes other paths before all replicas read them loses pods', async () => {
      const { lost } = losses.report(tooEarly);
      return (await isNext(back)) && lost.some(({ kind }) => kind === 'refused');
    });
    await replaceRole(replicas, current, 'controllers');
    await context.check('the leader of this version writes paths that they read', async () => !(await isNext(back)));
    context.say(`lost by paths that came too early: ${losses.report(tooEarly).lost.length}`);
    await stays('after paths that came too early', 75);

    const gated = Date.now();
    await replaceRole(replicas, newer, 'controllers');
    replicas.bundle = newer;
    for (const [index, replica] of [...replicas.webhooks].entries()) {
      await context.checkNow(`${index} of 2 replicas read other paths: none is written`, async () =>
        found(String(await isNext(back)), 'false'),
      );
      await replicas.replace(replica);
    }
    await context.check('when the last old replica is gone, they are written', async () => isNext(back));
    await stays('the next version', 75);
    await replaceAll(replicas, current);
    await context.check('back at this version: paths are as before', async () => !(await isNext(back)));
    await stays('back at this version', 75);
    const second = await losses.checkNone('to the next version and back', { askedSince: gated });
    await rolled.ask('resume', 'to-100');
    await rolled.promotes('it is promoted, after all of this');

    await checkDefinitions(context, objectsOf(earlier, scenario), objectsOf(current, scenario));
    const created = first + second;
    context.measured({ created, lost: 0, writes: successful, conflicts, earlier: previousRelease });
    return `to this version and back, to a next one and back: 0 of ${created} lost, ${successful} writes of webhooks, none twice; ${conflicts} answered 409`;
  },
};

async function isNext(rollout: SmallRollout): Promise<boolean> {
  return (await rollout.path()).startsWith('/v2/');
}

function isDefinition({ kind }: KubernetesObject): boolean {
  return kind === 'CustomResourceDefinition';
}

/** The chart of another version, as an upgrade writes it: what is new, then without what is no more. The Deployments' pods are ours to replace. */
async function installChart(
  { client }: ScenarioContext,
  { installation }: Replicas,
  objects: KubernetesObject[],
): Promise<void> {
  const isOfUpgrade = (each: KubernetesObject): boolean => each.kind !== 'Deployment' && !isDefinition(each);
  const keyOf = ({ kind, metadata }: KubernetesObject): string => `${kind}/${metadata.name ?? ''}`;
  await applyAll(client, objects.filter(isOfUpgrade));
  const there = new Set(objects.map(keyOf));
  const obsolete = installation.objects.filter((each) => isOfUpgrade(each) && !there.has(keyOf(each)));
  for (const object of obsolete) await client.delete(object);
  installation.objects.splice(0, Infinity, ...objects);
  installation.workloads.splice(0, Infinity, ...chartWorkloads(objects, installation.namespace));
}

type Roles = 'controllers' | 'webhooks';

/** Both Deployments at once, or one after the other. */
async function replaceAll(replicas: Replicas, bundle: string, first?: Roles): Promise<void> {
  const others = first === 'webhooks' ? 'controllers' : 'webhooks';
  if (first !== undefined) await replaceRole(replicas, bundle, first);
  await Promise.all([
    replaceRole(replicas, bundle, others),
    ...(first === undefined ? [replaceRole(replicas, bundle, 'controllers')] : []),
  ]);
  await replicas.waitUntilServing();
}

async function replaceRole(replicas: Replicas, bundle: string, role: Roles): Promise<void> {
  replicas.bundle = bundle;
  for (const replica of [...replicas[role]]) await replicas.replace(replica);
  await replicas.waitForLeader();
}

/** What the definitions of one version drop of what another writes stands in docs/upgrade.md, field by field. */
async function checkDefinitions(
  context: ScenarioContext,
  earlier: KubernetesObject[],
  current: KubernetesObject[],
): Promise<void> {
  const page = readFileSync(join(repository, 'docs', 'upgrade.md'), 'utf8');
  const [before, now] = [fieldsOf(earlier), fieldsOf(current)];
  const dropped = [...now].filter((field) => !before.has(field));
  const removed = [...before].filter((field) => !now.has(field));
  context.say(`fields that came since the release before: ${dropped.length}, that went: ${removed.length}`);
  await context.checkNow('each field that the definitions of the release before drop is in docs/upgrade.md', () =>
    found(dropped.filter((field) => !page.includes(`\`${field}\``)).join(', '), ''),
  );
  await context.checkNow('no field of the release before is gone', () => found(removed.join(', '), ''));
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
}

/** `RevisionTag.status.rollout.phase` and so on. */
function fieldsOf(objects: KubernetesObject[]): Set<string> {
  const fields = new Set<string>();
  const add = (schema: Schema | undefined, at: string): void => {
    for (const [name, property] of Object.entries(schema?.properties ?? {})) {
      fields.add(`${at}.${name}`);
      add(property, `${at}.${name}`);
    }
    for (const inner of [schema?.items, schema?.additionalProperties]) if (inner !== undefined) add(inner, at);
  };
  for (const { spec } of objects.filter(isDefinition)) {
    const { names, versions } = spec as {
      names: { kind: string };
      versions: { schema: { openAPIV3Schema: Schema } }[];
    };
    for (const { schema } of versions) add(schema.openAPIV3Schema, names.kind);
  }
  return fields;
}
