import { setTimeout as sleep } from 'node:timers/promises';
import { applyMarked } from '../harness/load/marked-config.ts';
import { applyTagUntilReady, revisionTag } from '../harness/revision-tags.ts';
import { beginRotation } from '../harness/rotations.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { shortTerms } from '../harness/tls-observer/rotating-cluster.ts';
import { redirected, webhookNamed, webhooks, type WebhookConfiguration } from '../harness/webhook-configurations.ts';
import { trackWebhookWrites } from '../harness/webhook-writes.ts';
import { SmallRollout } from './canary-cases/small-rollout.ts';
import { checkContest } from './repair/contest.ts';

const moved = 'sidecar-injector-tag-moved';

export const oneWriter: Scenario = {
  name: 'one-writer',
  about:
    'in a rollout, a rotation, a tag move and a repair, no write of a webhook repeats the previous write; each step writes the path once; against a hostile writer, the operator writes at most once per second',
  destructive: 'it needs the audit log of the embedded control plane',
  run: async (context) => {
    const { client } = context;
    const installation = await context.install();
    await installation.startOperator({ flags: ['--test-certificate-time-scale=60'] });
    await applyMarked(client, { v1: 'one', v2: 'two' }, { certificate: shortTerms });
    const audit = context.requireAudit();
    const writes = await trackWebhookWrites(context, audit, installation.username);

    const rollout = await SmallRollout.open(context, audit, { tag: 'rolled', count: 2 });
    await rollout.edit('v2', [50, 100]);
    await rollout.pausedAt(50, 'v2');
    await rollout.ask('resume', 'on');
    await rollout.reach('promoted', ({ phase }) => phase === 'Promoted');
    await context.check('a rollout of two steps writes 4 paths: stable, 50 percent, 100 percent, promoted', () => {
      const paths = writes.paths('sidecar-injector-tag-rolled');
      return paths.length === 4 && new Set(paths).size === 4;
    });

    await applyTagUntilReady(client, revisionTag('moved', 'v1'));
    const before = writes.versions(moved);
    await applyTagUntilReady(client, revisionTag('moved', 'v2'));
    await context.check('the move of a tag takes one write', () => writes.versions(moved) === before + 1);

    await (await beginRotation(context, 'v2')).ended();
    await context.check('after a rotation, the webhooks of InjectorConfig and tag have the same caBundle', () => {
      const bundles = ['sidecar-injector-v2', moved].map((name) => writes.bundle(name));
      return bundles[0] !== '' && bundles[0] === bundles[1];
    });

    await client.delete(webhookNamed(moved));
    await context.check('the operator restores a deleted webhook', () => client.find(webhooks, moved));
    await sleep(1000);
    await context.check('each write of a webhook created a new version, so no write repeated another', () => {
      const { successful, versions, conflicts } = writes.count();
      if (successful === versions) return true;
      throw new Error(`${successful} writes created ${versions} versions, ${conflicts} writes got 409`);
    });
    const undisturbed = writes.count();

    const live = await client.get<WebhookConfiguration>(webhooks, moved);
    const emptied = redirected(live, { caBundle: '' });
    const hostile = await checkContest(context, {
      says: "a client that empties a tag's caBundles",
      seconds: 4,
      audit: context.requireAudit(),
      username: installation.username,
      configuration: moved,
      write: () => client.patch(live, 'merge', { webhooks: emptied }, { fieldManager: 'hostile' }),
    });
    const conflicts = writes.count().conflicts - undisturbed.conflicts;
    const { successful } = undisturbed;
    const figures = { writes: successful, conflicts: undisturbed.conflicts };
    context.measured({ ...figures, underHostileWriter: hostile, refused: conflicts });
    return `${successful} writes, each with a new resourceVersion, and ${undisturbed.conflicts} that got 409; against a hostile writer ${hostile} writes, and ${conflicts} that got 409`;
  },
};
