import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { applyAll } from '../harness/apply.ts';
import { chartWorkloads } from '../harness/chart-workloads.ts';
import { applyUntilReady, injectorConfigs, type InjectorConfigObject } from '../harness/injector-configs.ts';
import { Losses } from '../harness/load/losses.ts';
import { markDefect, markedConfig } from '../harness/load/marked-config.ts';
import { paths, repository } from '../harness/paths.ts';
import type { Replicas } from '../harness/replicas/replicas.ts';
import { beginRotation } from '../harness/rotations.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { earlierBundle, isDefinition, nextBundle, objectsOf, previousRelease } from '../harness/versions.ts';
import { found } from '../harness/wait-for.ts';
import { WebhookWrites } from '../harness/webhook-writes.ts';
import { SmallRollout } from './canary-cases/small-rollout.ts';

const count = 4;
/** A minute is a second: an authority is confirmed for 20 s. */
const certificate = { leafDuration: '4h', caDuration: '48h', confirmationPeriod: '20m' };
const flags = ['--test-certificate-time-scale=60'];
const [there, again] = ['this version', 'the release before again'];

export const upgrade: Scenario = {
  name: 'upgrade',
  about:
    'from the release before to this version and back, then to a next one that writes other paths and back, in a rotation and in a rollout, a pod every 20 ms: 0 lost, no share changes, nothing is written twice; paths that are written too early lose',
  destructive: 'it needs the embedded control plane and its audit log',
  full: 'the same, and with the roles in each order, about 6 minutes',
  run: async (context) => {
    const { client } = context;
    const earlier = await earlierBundle(previousRelease);
    const [current, newer, hasty] = [paths.injector, await nextBundle('2'), await nextBundle('1')];
    const render = (system: string): KubernetesObject[] => objectsOf(earlier, system);
    const replicas = await context.startReplicas({ webhooks: 2, controllers: 2, flags, bundle: earlier, render });
    const { namespace: system, username } = replicas.installation;
    await applyUntilReady(client, markedConfig('v1', 'one', { certificate }));
    await applyUntilReady(client, markedConfig('v2', 'two', { certificate }));
    const audit = context.requireAudit();
    const rolled = await SmallRollout.open(context, audit, { tag: 'rolled', count });
    const back = await SmallRollout.open(context, audit, { tag: 'back', count });
    await rolled.edit('v2', [25, 50, 75, 100]);
    await Promise.all([rolled.pausedAt(25, 'v2'), back.rollBack('v2')]);
    const load = await context.startLoad({
      namespace: await context.namespace('pods', { 'istio.io/rev': 'back' }),
      inspect: (pod) => markDefect(pod, (mark) => mark === 'one'),
      perSecond: 50,
    });
    const losses = new Losses(context, load, audit);
    const since = Date.now();
    const stays = async (version: string, weight: number): Promise<void> => {
      await rolled.check(`${version}: the same ${weight} percent`, await rolled.renewed(), rolled.share(weight));
      await back.checkAll(`${version}: nobody has the canary`, 'v1');
      const { phase } = await back.state();
      await context.checkNow(`${version}: a tag that was rolled back says so still`, () => found(phase, 'RolledBack'));
    };
    const isNext = async (): Promise<boolean> => (await back.path()).startsWith('/v2/');

    const writes = await WebhookWrites.open(context, context.requireAudit(), username);
    const otherOrder = [
      [there, current, 'webhooks', 25, 25],
      [again, earlier, 'controllers', 25, 25],
    ] as const;
    for (const [version, bundle, first, weight, next] of [
      ...(context.size === 'full' ? otherOrder : []),
      [there, current, 'controllers', 25, 50],
      [again, earlier, 'webhooks', 50, 75],
    ] as const) {
      const before = `${await rolled.path()} ${await back.path()}`;
      const objects = objectsOf(bundle, system);
      await changeChart(context, replicas, objects);
      const rotation = await beginRotation(context, 'v1');
      const isWithin = async (): Promise<boolean> => found(await rotation.state(), 'Accepted');
      const within = `${version}, ${first} first: the authority is being replaced as well`;
      await Promise.all([context.checkNow(within, isWithin), replace(replicas, bundle, [first])]);
      await replace(replicas, bundle, [first === 'webhooks' ? 'controllers' : 'webhooks']);
      // As helm leaves them: the definitions follow when all processes have.
      await applyAll(client, objects.filter(isDefinition));
      await rotation.ended();
      const after = `${await rolled.path()} ${await back.path()}`;
      await context.checkNow(`${version}: both tags lead where they led`, () => found(after, before));
      await stays(version, weight);
      await losses.checkNone(`${version}, ${first} first`, since);
      if (next > weight) await rolled.ask('resume', `to-${next}`);
      await rolled.pausedAt(next, 'v2');
    }
    await changeChart(context, replicas, objectsOf(current, system));
    await replace(replicas, current, ['webhooks', 'controllers']);
    await stays('this version, both roles at once', 75);
    await context.check('each write of a webhook has made a version', () => {
      const { successful, versions } = writes.count();
      return found(String(successful), String(versions));
    });
    await context.checkNow('no webhook was written again as it had been before', () => found(writes.returned(), ''));
    const { successful, conflicts } = writes.count();
    const first = await losses.checkNone('between the release before and this version', since);

    const tooEarly = Date.now();
    await replace(replicas, hasty, ['controllers']);
    await context.check('a leader that writes other paths before all replicas read them loses pods', async () => {
      return (await isNext()) && losses.report(tooEarly).lost.some(({ kind }) => kind === 'refused');
    });
    await replace(replicas, current, ['controllers']);
    await context.check('the leader of this version writes paths that they read', async () => !(await isNext()));
    context.say(`lost by paths that came too early: ${losses.report(tooEarly).lost.length}`);
    await stays('after paths that came too early', 75);

    const gated = Date.now();
    await replace(replicas, newer, ['controllers']);
    for (const replica of [...replicas.webhooks]) {
      await context.checkNow(
        `${replica.name} does not read other paths: none is written`,
        async () => !(await isNext()),
      );
      await replicas.replace(replica);
    }
    await context.check('when the last old replica is gone, they are written', isNext);
    await stays('the next version', 75);
    await replace(replicas, current, ['webhooks', 'controllers']);
    await context.check('back at this version, paths are as before', async () => !(await isNext()));
    await stays('back at this version', 75);
    await lackField(context, losses, objectsOf(current, system));
    await rolled.ask('resume', 'to-100');
    await rolled.promotes('it is promoted, after all of this');
    await checkFields(context, earlier);
    const created = first + (await losses.checkNone('to the next version and back', { askedSince: gated }));
    context.measured({ created, lost: 0, writes: successful, conflicts, earlier: previousRelease });
    return `to this version and back, to a next one and back: 0 of ${created} lost, ${successful} writes of webhooks, none twice; ${conflicts} answered 409`;
  },
};

/** The chart as an upgrade writes it: what is new, then without what is no more. The pods of its Deployments are ours to replace. */
async function changeChart({ client }: ScenarioContext, { installation }: Replicas, objects: KubernetesObject[]) {
  const isMeant = (each: KubernetesObject): boolean => each.kind !== 'Deployment' && !isDefinition(each);
  const keyOf = ({ kind, metadata }: KubernetesObject): string => `${kind}/${metadata.name ?? ''}`;
  await applyAll(client, objects.filter(isMeant));
  const kept = objects.map(keyOf);
  for (const each of installation.objects.filter(isMeant)) if (!kept.includes(keyOf(each))) await client.delete(each);
  installation.objects.splice(0, Infinity, ...objects);
  installation.workloads.splice(0, Infinity, ...chartWorkloads(objects, installation.namespace));
}

/** Replaces the processes of roles, several roles at once. */
async function replace(replicas: Replicas, bundle: string, roles: ('webhooks' | 'controllers')[]): Promise<void> {
  replicas.bundle = bundle;
  const each = async (list: Replicas['webhooks']): Promise<void> => {
    for (const replica of [...list]) await replicas.replace(replica);
  };
  await Promise.all(roles.map((role) => each(replicas[role])));
  await replicas.waitUntilServing();
  await replicas.waitForLeader();
}

/** What the definitions of the release before lack stands in docs/upgrade.md, field by field. */
async function checkFields(context: ScenarioContext, earlier: string): Promise<void> {
  const page = readFileSync(join(repository, 'docs', 'upgrade.md'), 'utf8');
  const [before, now] = [fieldsOf(join(earlier, '..', '..')), fieldsOf(repository)];
  const lacking = now.filter((field) => !before.includes(field) && !page.includes(`\`${field}\``));
  await context.checkNow('each field that the definitions of the release before lack is in docs/upgrade.md', () =>
    found(lacking.join(', '), ''),
  );
  const gone = before.filter((field) => !now.includes(field));
  await context.checkNow('no field of the release before is gone', () => found(gone.join(', '), ''));
}

/** `revision-tag.status.rollout.phase` and so on, from the generated pages. */
function fieldsOf(root: string): string[] {
  return ['injector-config', 'revision-tag'].flatMap((kind) => {
    const sections = readFileSync(join(root, 'docs', `${kind}-fields.md`), 'utf8').split('\n## ');
    const rows = (section: string) => [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, field = '']) => field);
    return sections.flatMap((section) => rows(section).map((field) => `${kind}.${/^\w+/.exec(section)?.[0]}.${field}`));
  });
}

/** An older definition under a newer operator: what it lacks is not written, nothing is lost, and all is there again with it. */
async function lackField(context: ScenarioContext, losses: Losses, objects: KubernetesObject[]): Promise<void> {
  const { client } = context;
  const since = Date.now();
  const text = JSON.stringify(objects.filter(isDefinition));
  const lacking = text.replaceAll('"servedBy":{', '"servedByNobody":{');
  await applyAll(client, JSON.parse(lacking) as KubernetesObject[]);
  const servedBy = async () => (await client.get<InjectorConfigObject>(injectorConfigs, 'v1')).status?.config?.servedBy;
  await context.check('a definition that lacks a field drops it', async () => (await servedBy()) === undefined);
  await losses.checkNone('under a definition that lacks a field', since);
  await applyAll(client, JSON.parse(text) as KubernetesObject[]);
  await context.check('with the whole definition the field is written again', async () => (await servedBy()) === 2);
}
