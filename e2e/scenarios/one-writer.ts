import { setTimeout as sleep } from 'node:timers/promises';
import { applyMarked } from '../harness/load/marked-config.ts';
import { applyTagUntilReady, revisionTag } from '../harness/revision-tags.ts';
import { beginRotation } from '../harness/rotations.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { shortTerms } from '../harness/tls-observer/rotating-cluster.ts';
import { redirected, webhookNamed, webhooks, type WebhookConfiguration } from '../harness/webhook-configurations.ts';
import { WebhookWrites } from '../harness/webhook-writes.ts';
import { SmallRollout } from './canary-cases/small-rollout.ts';
import { checkContest } from './repair/contest.ts';

const moved = 'sidecar-injector-tag-moved';

export const oneWriter: Scenario = {
  name: 'one-writer',
  about:
    'by the audit log and a watch, in a rollout, a rotation, a tag move and a repair: no write of a webhook repeats the last one, one write of the path a step, one a second under a hostile writer',
  paired: true,
  destructive: 'it needs the audit log of the embedded control plane',
  run: async (context) => {
    const { client } = context;
    const installation = await context.install();
    await installation.startOperator({ flags: ['--test-certificate-time-scale=60'] });
    await applyMarked(client, { v1: 'one', v2: 'two' }, { certificate: shortTerms });
    const audit = context.requireAudit();
    const writes = await WebhookWrites.open(context, audit, installation.username);

    const rollout = await SmallRollout.open(context, audit, { tag: 'rolled', count: 2 });
    await rollout.edit('v2', [50, 100]);
    await rollout.pausedAt(50, 'v2');
    await rollout.ask('resume', 'on');
    await rollout.reach('promoted', ({ phase }) => phase === 'Promoted');
    await context.check('a rollout of two steps has 4 paths: stable, 50 percent, 100 percent, promoted', () => {
      const paths = writes.paths('sidecar-injector-tag-rolled');
      return paths.length === 4 && new Set(paths).size === 4;
    });

    await applyTagUntilReady(client, revisionTag('moved', 'v1'));
    const before = writes.versions(moved);
    await applyTagUntilReady(client, revisionTag('moved', 'v2'));
    await context.check('a tag is moved by one write', () => writes.versions(moved) === before + 1);

    await (await beginRotation(context, 'v2')).ended();
    await context.check('the webhooks of an InjectorConfig and of its tags trust the same in the end', () => {
      const bundles = ['sidecar-injector-v2', moved].map((name) => writes.bundle(name));
      return bundles[0] !== '' && bundles[0] === bundles[1];
    });

    await client.delete(webhookNamed(moved));
    await context.check(
      'a webhook that was deleted comes back',
      async () => (await client.find(webhooks, moved)) !== undefined,
    );
    await sleep(1000);
    await context.check('no write of a webhook has repeated the last one: each has made a version', () => {
      const { successful, versions, conflicts } = writes.count();
      if (successful === versions) return true;
      throw new Error(`${successful} writes made ${versions} versions, ${conflicts} answered 409`);
    });
    const calm = writes.count();

    const live = await client.get<WebhookConfiguration>(webhooks, moved);
    const emptied = redirected(live, { caBundle: '' });
    const hostile = await checkContest(context, {
      says: 'caBundles of a tag emptied',
      seconds: 4,
      audit: context.requireAudit(),
      username: installation.username,
      configuration: moved,
      write: () => client.patch(live, 'merge', { webhooks: emptied }, { fieldManager: 'hostile' }),
    });
    const conflicts = writes.count().conflicts - calm.conflicts;
    const { successful } = calm;
    context.measured({
      writes: successful,
      conflicts: calm.conflicts,
      underHostileWriter: hostile,
      refused: conflicts,
    });
    return `${successful} writes, each made a version, ${calm.conflicts} answered 409; under a hostile writer ${hostile}, ${conflicts} answered 409`;
  },
};
