import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { checkDeadReplicas, Losses } from '../harness/load/losses.ts';
import { markDefect, markedConfig } from '../harness/load/marked-config.ts';
import { paths, repository } from '../harness/paths.ts';
import type { Pod } from '../harness/pod.ts';
import type { Replicas } from '../harness/replicas/replicas.ts';
import { beginRotation } from '../harness/rotations.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { found } from '../harness/wait-for.ts';
import { WebhookWrites } from '../harness/webhook-writes.ts';
import { SmallRollout } from './canary-cases/small-rollout.ts';

/** The last commit in which several writers shared a webhook. */
const severalWriters = '0bf5e9c';
const count = 4;
/** A minute is a second: an authority is confirmed for 30 s, within which all processes are replaced. */
const certificate = { leafDuration: '4h', caDuration: '48h', confirmationPeriod: '30m' };
const flags = ['--test-certificate-time-scale=60', '--drain-seconds=2'];

export const upgradeInTheMiddle: Scenario = {
  name: 'upgrade-in-the-middle',
  about:
    'a rolling update from the last version with several writers of a webhook to this one, and back, in the middle of a rollout, of a rotation and with a tag that was rolled back: 0 lost, no share changes, nothing is written twice',
  destructive: 'it needs the embedded control plane and its audit log',
  full: 'the same, with the bundle of an earlier commit built from the history, about 3 minutes',
  onlyGate: true,
  run: async (context) => {
    const { client } = context;
    const earlier = await earlierBundle(severalWriters);
    const replicas = await context.startReplicas({ webhooks: 2, controllers: 1, flags, bundle: earlier });
    await applyUntilReady(client, markedConfig('v1', 'one', { certificate }));
    await applyUntilReady(client, markedConfig('v2', 'two', { certificate }));
    const audit = context.requireAudit();
    const [rolled, back] = await Promise.all([
      SmallRollout.open(context, audit, { tag: 'rolled', count }),
      SmallRollout.open(context, audit, { tag: 'back', count }),
    ]);
    await rolled.edit('v2', [25, 75, 100]);
    await Promise.all([rolled.pausedAt(25, 'v2'), back.rollBack('v2')]);
    const namespace = await context.namespace('pods', { 'istio.io/rev': 'back' });
    const inspect = (pod: Pod) => markDefect(pod, (mark) => mark === 'one');
    const losses = new Losses(context, await context.startLoad({ namespace, inspect, perSecond: 15 }), audit);
    await checkDeadReplicas(context, replicas, losses);

    const since = Date.now();
    const writes = await WebhookWrites.open(context, context.requireAudit(), replicas.installation.username);
    for (const [version, bundle, weight, next] of [
      ['the new version', paths.injector, 25, 75],
      ['the earlier version again', earlier, 75, 100],
    ] as const) {
      const before = `${await rolled.path()} ${await back.path()}`;
      const rotation = await beginRotation(context, 'v1');
      await rollTo(replicas, bundle);
      await context.checkNow(`${version}: all processes were replaced while the authority was`, async () =>
        found(await rotation.state(), 'Accepted'),
      );
      await rotation.ended();
      await context.checkNow(`${version}: both tags lead where they led`, async () =>
        found(`${await rolled.path()} ${await back.path()}`, before),
      );
      await rolled.check(`${version}: the same ${weight} percent`, await rolled.renewed(), rolled.share(weight));
      await back.checkAll(`${version}: nobody has the canary`, 'v1');
      await context.checkNow(`${version}: the tag that was rolled back says so still`, async () =>
        found((await back.state()).phase, 'RolledBack'),
      );
      await rolled.ask('resume', `to-${next}`);
      if (next < 100) await rolled.pausedAt(next, 'v2');
    }
    await rolled.promotes('it is promoted, after two versions');
    await sleep(1000);
    const { successful, versions, conflicts } = writes.count();
    await context.checkNow('each write of a webhook has made a version', () =>
      found(String(successful), String(versions)),
    );
    await context.checkNow('no webhook was written again as it had been before', () => found(writes.returned(), ''));
    const created = await losses.checkNone('replaced there and back', since);
    context.measured({ created, lost: 0, writes: successful, conflicts, earlier: severalWriters });
    return `to the new version and back: 0 of ${created} lost, ${successful} writes of webhooks, each made a version, none was written twice; ${conflicts} answered 409`;
  },
};

async function rollTo(replicas: Replicas, bundle: string): Promise<void> {
  replicas.bundle = bundle;
  const each = async (list: Replicas['webhooks']): Promise<void> => {
    for (const replica of [...list]) await replicas.replace(replica);
  };
  await Promise.all([each(replicas.webhooks), each(replicas.controllers)]);
  await replicas.waitUntilServing();
  await replicas.waitForLeader();
}

const run = promisify(execFile);

/**
 * The bundle of an earlier commit, built from the repository's own history; returns its path. It is built once.
 *
 * @param commit 40 hex digits, or their beginning
 * @throws Error when the clone is shallow, or its packages are not those of the commit
 */
async function earlierBundle(commit: string): Promise<string> {
  const folder = join(paths.earlier, commit);
  const bundle = join(folder, 'dist', 'injector.cjs');
  if (existsSync(bundle)) return bundle;
  const git = { cwd: repository, maxBuffer: 256 << 20 };
  const isThere = spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], git).status === 0;
  if (!isThere) throw new Error(`this clone has no commit ${commit}: \`git fetch --unshallow\` fetches what it lacks`);
  const packages = spawnSync('git', ['diff', '--quiet', commit, 'HEAD', '--', 'package-lock.json'], git).status;
  if (packages !== 0) throw new Error(`commit ${commit} has other npm packages: build its bundle by hand at ${bundle}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const archive = join(folder, 'source.tar');
  await run('git', ['archive', '--output', archive, commit], git);
  await run('tar', ['--extract', '--file', archive, '--directory', folder]);
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
  await run(process.execPath, ['--import', 'ts-blank-space/register', 'scripts/build.ts'], { cwd: folder });
  return bundle;
}
