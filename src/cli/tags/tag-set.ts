import type { Command } from 'commander';
import { defaultRevision, type RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { checkRights } from '../kill-switch/check-rights.ts';
import { parseSeconds } from '../option-values.ts';
import { describeFollowers, hasFollowers, readFollowers } from './followers.ts';
import { agrees, tagRights } from './precautions.ts';
import { planTag } from './plan-tag.ts';
import { tagManifest, type TagRequest } from './tag-manifest.ts';
import { writeTag } from './write-tag.ts';
import type { Terminal } from '../terminal.ts';
import { keysOfTag, readInstallation } from '../usage/installation.ts';
import { restartBounds } from '../../api/revision-tag/rollout-strategy.ts';
import { plural } from '../report/write-report.ts';
import { readinessOf } from '../usage/readiness.ts';
import { restartLine } from '../rollout/restart-lines.ts';
import { rolloutUnderWay } from '../rollout/rollout-standing.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { revisionTags } from '../../operator/cluster-view.ts';

interface SetOptions extends ClusterOptions {
  readonly revision: string;
  readonly overwrite?: true;
  readonly skipConfirmation?: true;
  readonly autoInjectNamespaces?: boolean;
  /** Seconds; 0: do not wait. */
  readonly timeout: number;
}

/** `injector tag set`: everything is found out and asked before the one write that creates or moves the tag. */
export function tagSetCommand(terminal: Terminal): Command {
  return clusterCommand('set', 'create a tag, or move it')
    .argument('<tag>', 'the name that namespaces follow')
    .requiredOption('-r, --revision <revision>', 'the revision that it leads to')
    .option('--overwrite', 'move the tag if it exists')
    .option('-y, --skip-confirmation', 'answer yes to what would be asked')
    .option('--auto-inject-namespaces', 'with tag default: also pods without any label, in namespaces without any')
    .option('--no-auto-inject-namespaces', 'no longer')
    .option('--timeout <seconds>', 'how long to wait until new pods get the revision (0: not at all)', parseSeconds, 60)
    .action(async (name: string, options: SetOptions) => {
      const { revision, autoInjectNamespaces } = options;
      const request = { name, revision, autoInjectNamespaces };
      // What no cluster would take is told without one.
      tagManifest(request);
      await withCluster(options, (client) => setTag(client, request, options, terminal));
    });
}

async function setTag(client: ApiClient, request: TagRequest, options: SetOptions, terminal: Terminal): Promise<void> {
  const { name, revision } = request;
  await checkRights(client, tagRights('list', 'create', 'patch'));
  const installation = await readInstallation(client);
  const plan = planTag(request, options.overwrite === true, installation);
  if (plan.action === 'refuse') throw new Error(plan.message);
  if (plan.action === 'nothing') {
    terminal.out(`RevisionTag ${name}: ${describeStanding(plan.tag)}\n`);
    return;
  }
  const { tag, before, concerns } = plan;
  const followers = await readFollowers(client, installation, tag);
  if (concerns.length > 0 && !(await agrees(terminal, concerns, options.skipConfirmation === true))) return;

  const written = await writeTag(client, tag, before);
  const isRollout = before !== undefined && beginsRollout(before, revision);
  terminal.out(`RevisionTag ${name}: ${describeMove(tag, before, isRollout)}\n`);
  if (options.timeout > 0) {
    const { timeout } = options;
    const why = await untilInForce(client, name, written.metadata.generation ?? 0, isRollout, timeout);
    if (why !== undefined)
      throw new Error(`RevisionTag ${name}: not in force after ${timeout} s, pods get what they got before: ${why}`);
    terminal.out(isRollout ? 'the rollout is under way\n' : 'new pods get it now\n');
  }
  const restarts = before && describeRestarts(before, isRollout);
  if (isRollout) {
    if (restarts !== undefined) terminal.out(`${restarts}\n`);
    terminal.out(`\`injector tag watch ${name}\` shows it\n`);
    return;
  }
  const keys = keysOfTag(installation, tag);
  const label = name === defaultRevision ? `${keys.injection}=enabled` : `${keys.revision}=${name}`;
  if (!hasFollowers(followers)) {
    terminal.out(`namespaces follow it by their label: kubectl label namespace NAME ${label}\n`);
    return;
  }
  const then = restarts ?? 'pods that run already get it when they are restarted';
  const command = restarts === undefined ? 'injector status --stale' : `injector tag watch ${name}`;
  terminal.out(`it is followed by ${describeFollowers(followers)}; ${then}: \`${command}\`\n`);
}

/**
 * What the operator will restart after a move, by the spec, and by the status whether it may; undefined where the spec asks for nothing that can
 * come now.
 * @param isRollout the tag does not move at once
 */
function describeRestarts(
  { spec: { strategy }, status }: Pick<RevisionTag, 'spec' | 'status'>,
  isRollout: boolean,
): string | undefined {
  const isAfterRollback = strategy?.restart === undefined;
  if (strategy === undefined || (isAfterRollback && !(isRollout && strategy.rollback?.restart === 'Canary')))
    return undefined;
  const what = isAfterRollback
    ? 'if it is rolled back, workloads that have got the canary are restarted'
    : isRollout
      ? 'workloads are restarted as the share comes to them'
      : 'workloads with pods that run already are restarted';
  const { maxUnavailableWorkloads, perNamespace } = restartBounds(strategy);
  const field = isAfterRollback ? 'spec.strategy.rollback' : 'spec.strategy.restart';
  const bounds = `${plural(maxUnavailableWorkloads, 'workload')} at a time, ${perNamespace} of one namespace (${field})`;
  const restarts = status?.restarts;
  const obstacle = restarts?.phase === 'NotAllowed' ? `; for now they are not: ${restarts.message}` : '';
  return `${what}, ${bounds}${obstacle}`;
}

/** Whether a tag gets to a revision in steps: it has a strategy that says so, and leads somewhere else now. */
function beginsRollout({ spec, status }: RevisionTag, revision: string): boolean {
  const stable = status?.rollout?.stable.revision ?? status?.stableRevision;
  return spec.strategy?.canary !== undefined && stable !== undefined && stable !== revision;
}

/** What a write of the tag has come to. */
function describeMove(
  { spec: { revision } }: RevisionTag,
  before: RevisionTag | undefined,
  isRollout: boolean,
): string {
  if (before === undefined) return `created, leads to revision ${revision}`;
  const underWay = rolloutUnderWay(before);
  if (underWay?.canary.revision === revision) return `changed; the rollout to revision ${revision} goes on`;
  const ended = underWay === undefined ? '' : `the rollout to revision ${underWay.canary.revision} ends; `;
  if (!isRollout) return `${ended}moved from revision ${before.spec.revision}, leads to revision ${revision}`;
  const { stableRevision = '?', rollout } = before.status ?? {};
  const steps = plural(before.spec.strategy?.canary?.steps.length ?? 0, 'step');
  return `${ended}a rollout from revision ${rollout?.stable.revision ?? stableRevision} to ${revision} begins, in ${steps} (spec.strategy.canary)`;
}

/** Where a tag stands whose spec says already what was asked for. */
function describeStanding(tag: RevisionTag): string {
  const { name } = tag.metadata;
  const { revision } = tag.spec;
  if (rolloutUnderWay(tag) !== undefined)
    return `the rollout to revision ${revision} is under way; \`injector tag watch ${name}\` shows it`;
  const { stableRevision = 'nothing' } = tag.status ?? {};
  const { reason, message } = readinessOf(tag);
  if (stableRevision !== revision)
    return `asks for revision ${revision} already, pods get ${stableRevision}: ${reason}: ${message}`;
  const restarts = restartLine(tag);
  return `leads to revision ${revision} already${restarts === undefined ? '' : `; ${restarts}`}`;
}

/** Milliseconds between two looks. */
const interval = 200;

/**
 * Waits until new pods get what a tag asks for, or until the rollout to it is under way.
 * @param generation of the tag as it was written
 * @param isRollout whether the tag gets there in steps
 * @param seconds how long at most
 * @returns why they do not yet; undefined when they do
 */
export async function untilInForce(
  client: Pick<ApiClient, 'find'>,
  name: string,
  generation: number,
  isRollout: boolean,
  seconds: number,
): Promise<string | undefined> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const tag = await client.find<RevisionTag>(revisionTags, name);
    if (tag === undefined) return 'somebody has deleted it';
    if (isRollout && hasBegun(tag, generation)) return undefined;
    const why = whyNotInForce(tag, generation);
    if (why === undefined || performance.now() >= end) return why;
    await sleep(interval);
  }
}

function hasBegun(tag: RevisionTag, generation: number): boolean {
  const isSeen = (tag.status?.observedGeneration ?? 0) >= generation;
  return isSeen && rolloutUnderWay(tag)?.canary.revision === tag.spec.revision;
}

function whyNotInForce({ metadata, spec, status }: RevisionTag, generation: number): string | undefined {
  const { ready, reason, message } = readinessOf({
    metadata: { generation: Math.max(generation, metadata.generation ?? 0) },
    ...(status === undefined ? {} : { status }),
  });
  if (ready && status?.stableRevision === spec.revision) return undefined;
  return `${reason}: ${message}`;
}
