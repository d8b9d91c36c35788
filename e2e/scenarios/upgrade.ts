import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { applyAll } from '../harness/apply.ts';
import { applyUntilReady, injectorConfigs, type InjectorConfigObject } from '../harness/injector-configs.ts';
import { lossesOf, type Losses } from '../harness/load/losses.ts';
import { markDefect, markedConfig } from '../harness/load/marked-config.ts';
import { paths, repository } from '../harness/paths.ts';
import { beginRotation } from '../harness/rotations.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import {
  changeChart,
  earlierBundle,
  isDefinition,
  nextBundle,
  objectsOf,
  previousRelease,
  replace,
} from '../harness/versions.ts';
import { found } from '../harness/wait-for.ts';
import { trackWebhookWrites } from '../harness/webhook-writes.ts';
import { SmallRollout } from './canary-cases/small-rollout.ts';

const count = 4;
/** A minute takes one second, so the confirmation period is 10 s. */
const certificate = { leafDuration: '4h', caDuration: '48h', confirmationPeriod: '10m' };
const flags = ['--test-certificate-time-scale=60'];
const [there, again] = ['after the upgrade to this version', 'after the downgrade to the previous release'];

export const upgrade: Scenario = {
  name: 'upgrade',
  about:
    'during a rotation and a rollout, upgrades from the previous release to this version and back, and to a later version with new paths and back, lose no pod and change no share; a leader that writes new paths too early loses pods',
  destructive: 'it needs the embedded control plane and its audit log',
  full: 'also replaces the roles in the other order, about 6 minutes',
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
      perSecond: context.size === 'full' ? 50 : 8,
    });
    const losses = lossesOf(context, load, audit);
    const since = Date.now();
    const checkUnchanged = async (version: string, weight: number): Promise<void> => {
      await rolled.check(
        `${version}, ${weight} percent of workloads have the canary`,
        await rolled.renewed(),
        rolled.share(weight),
      );
      await back.checkAll(`${version}, no workload of the rolled-back tag has the canary`, 'v1');
      const { phase } = await back.state();
      await context.checkNow(`${version}, the other tag is still RolledBack`, () => found(phase, 'RolledBack'));
    };
    const isNext = async (): Promise<boolean> => (await back.path()).startsWith('/v2/');

    const writes = await trackWebhookWrites(context, context.requireAudit(), username);
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
      const from = Date.now();
      await changeChart(client, replicas, objects);
      const rotation = await beginRotation(context, 'v1');
      const isRotating = async (): Promise<boolean> => found(await rotation.state(), 'Accepted');
      const statement = `a rotation is in progress while the ${first} are replaced first`;
      await Promise.all([context.checkNow(statement, isRotating), replace(replicas, bundle, [first])]);
      await replace(replicas, bundle, [first === 'webhooks' ? 'controllers' : 'webhooks']);
      if (bundle === earlier) context.earlierRoles.push({ from, until: Date.now() });
      // Apply the CRDs last, because helm does not update CRDs.
      await applyAll(client, objects.filter(isDefinition));
      await rotation.ended();
      const after = `${await rolled.path()} ${await back.path()}`;
      await context.checkNow(`${version}, the webhook paths of both tags are unchanged`, () => found(after, before));
      await checkUnchanged(version, weight);
      await losses.checkNone(`${version} with the ${first} first`, since);
      if (next > weight) await rolled.ask('resume', `to-${next}`);
      await rolled.pausedAt(next, 'v2');
    }
    await changeChart(client, replicas, objectsOf(current, system));
    await replace(replicas, current, ['webhooks', 'controllers']);
    await checkUnchanged('after an upgrade of both roles at the same time', 75);
    await context.check('each write of a webhook created a new resourceVersion', () => {
      const { successful, versions } = writes.count();
      return found(String(successful), String(versions));
    });
    await context.checkNow('no write of a webhook restored an earlier version', () => found(writes.returned(), ''));
    const { successful, conflicts } = writes.count();
    const first = await losses.checkNone('during all upgrades and downgrades', since);

    const tooEarly = Date.now();
    await replace(replicas, hasty, ['controllers']);
    await context.check('negative control: a leader that writes new paths too early loses pods', async () => {
      return (await isNext()) && losses.report(tooEarly).lost.some(({ kind }) => kind === 'refused');
    });
    await replace(replicas, current, ['controllers']);
    await context.check('a leader of this version writes paths of this version', async () => !(await isNext()));
    context.say(`pods lost by paths that were written too early: ${losses.report(tooEarly).lost.length}`);
    await checkUnchanged('after the paths that were written too early', 75);

    const gated = Date.now();
    await replace(replicas, newer, ['controllers']);
    for (const replica of [...replicas.webhooks]) {
      await context.checkNow(
        `a leader of the later version writes no new paths before ${replica.name} is replaced`,
        async () => !(await isNext()),
      );
      await replicas.replace(replica);
    }
    await context.check('the leader writes new paths after the last old replica has ended', isNext);
    await checkUnchanged('after the upgrade to the later version', 75);
    await replace(replicas, current, ['webhooks', 'controllers']);
    await context.check('after a downgrade, the leader writes the old paths', async () => !(await isNext()));
    await checkUnchanged('after the downgrade to this version', 75);
    await checkMissingField(context, losses, objectsOf(current, system));
    await rolled.ask('resume', 'to-100');
    await rolled.promotes('after all upgrades and the promotion, all workloads get the canary');
    await checkFields(context, earlier);
    const created = first + (await losses.checkNone('during the last upgrade and downgrade', { askedSince: gated }));
    context.measured({ created, lost: 0, writes: successful, conflicts, earlier: previousRelease });
    return `upgrades to this version and to a later version, and back: 0 of ${created} pods lost; ${successful} writes of webhooks, none repeated; ${conflicts} other writes got 409`;
  },
};

/** Checks that docs/upgrade.md lists each field that the CRDs of the previous release lack. */
async function checkFields(context: ScenarioContext, earlier: string): Promise<void> {
  const page = readFileSync(join(repository, 'docs', 'upgrade.md'), 'utf8');
  const [before, now] = [fieldsOf(join(earlier, '..', '..')), fieldsOf(repository)];
  const lacking = now.filter((field) => !before.includes(field) && !page.includes(`\`${field}\``));
  await context.checkNow('docs/upgrade.md lists each field that the CRDs of the previous release lack', () =>
    found(lacking.join(', '), ''),
  );
  const removed = before.filter((field) => !now.includes(field));
  await context.checkNow('no field of the previous release was removed', () => found(removed.join(', '), ''));
}

/** Returns fields such as `revision-tag.status.rollout.phase` from the generated pages. */
function fieldsOf(root: string): string[] {
  return ['injector-config', 'revision-tag'].flatMap((kind) => {
    const sections = readFileSync(join(root, 'docs', `${kind}-fields.md`), 'utf8').split('\n## ');
    const rows = (section: string) => [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, field = '']) => field);
    return sections.flatMap((section) => rows(section).map((field) => `${kind}.${/^\w+/.exec(section)?.[0]}.${field}`));
  });
}

/** Checks that no pod is lost while a CRD lacks a field, and that the field is written later. */
async function checkMissingField(context: ScenarioContext, losses: Losses, objects: KubernetesObject[]): Promise<void> {
  const { client } = context;
  const since = Date.now();
  const text = JSON.stringify(objects.filter(isDefinition));
  const lacking = text.replaceAll('"servedBy":{', '"servedByNobody":{');
  await applyAll(client, JSON.parse(lacking) as KubernetesObject[]);
  const servedBy = async () => (await client.get<InjectorConfigObject>(injectorConfigs, 'v1')).status?.config?.servedBy;
  await context.check('the API server drops a field that the CRD lacks', async () => (await servedBy()) === undefined);
  await losses.checkNone('while the CRD lacked a field', since);
  await applyAll(client, JSON.parse(text) as KubernetesObject[]);
  await context.check('once the CRD is complete, the field is written again', async () => (await servedBy()) === 2);
}
