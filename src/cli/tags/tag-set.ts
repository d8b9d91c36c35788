import type { Command } from 'commander';
import { commandLine } from '../../api/command-line.ts';
import { defaultRevision, type RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { parseSeconds } from '../option-values.ts';
import { describeFollowers, hasFollowers, readFollowers } from './followers.ts';
import { diffCluster, toRevision } from '../diff/cluster-diff.ts';
import { printSummary } from '../diff/print-diff.ts';
import { messageOf } from '../files.ts';
import { agrees, checkRights, tagRights } from '../precautions.ts';
import { planTagSet, tagManifest, type TagRequest } from './plan-tag.ts';
import { findTag, writeTag } from './stored-tag.ts';
import type { Terminal } from '../terminal.ts';
import { keysOfTag, readInstallation } from '../usage/installation.ts';
import { isInPlace, restartBounds } from '../../api/revision-tag/rollout-strategy.ts';
import { plural } from '../report/write-report.ts';
import { healthLines, healthOfClass, isAlive, readinessOf } from '../usage/operator-health.ts';
import { nextOpening, whenOpen } from '../../rollout/update-windows.ts';
import { restartLine } from '../rollout/rollout-lines.ts';
import { earlierRevision, rolloutUnderWay } from '../rollout/rollout-standing.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { revisionTags } from '../../operator/cluster-view.ts';

interface SetOptions extends ClusterOptions {
  readonly revision: string;
  readonly overwrite?: true;
  readonly skipConfirmation?: true;
  readonly yes?: true;
  readonly autoInjectNamespaces?: boolean;
  /** How long to wait, in seconds; 0 does not wait. */
  readonly timeout: number;
}

/** `injector tag set`: makes all checks and asks for confirmation before the only write. */
export function tagSetCommand(terminal: Terminal): Command {
  return clusterCommand('set', 'create or move a tag')
    .argument('<tag>', 'the name of the tag')
    .requiredOption('-r, --revision <revision>', 'the revision of the tag')
    .option('--overwrite', 'move the tag if it exists')
    .option('-y, --skip-confirmation', 'do not ask for confirmation')
    .option('--yes', 'the same; it also skips the prediction before a rollout')
    .option('--auto-inject-namespaces', 'with tag default: also inject unlabeled pods in unlabeled namespaces')
    .option('--no-auto-inject-namespaces', 'with tag default: no longer inject these pods')
    .option('--timeout <seconds>', 'how long to wait for the new revision (0: do not wait)', parseSeconds, 60)
    .action(async (name: string, options: SetOptions) => {
      const { revision, autoInjectNamespaces } = options;
      const request = { name, revision, autoInjectNamespaces };
      // Refuse invalid requests before connecting to the cluster.
      tagManifest(request);
      await withCluster(options, (client) => setTag(client, request, options, terminal));
    });
}

/** `injector tag undo`: sets a tag to the revision that it had before, as `tag set` does. */
export function tagUndoCommand(terminal: Terminal): Command {
  return clusterCommand('undo', 'set a tag back to its stable revision, or to the one before the last promotion')
    .argument('<tag>', 'the tag')
    .option('-y, --yes', 'do not ask for confirmation, and skip the prediction before a rollout')
    .option('--timeout <seconds>', 'how long to wait for the revision (0: do not wait)', parseSeconds, 60)
    .action((name: string, options: Omit<SetOptions, 'revision'>) =>
      withCluster(options, async (client) => {
        await checkRights(client, ['get revisiontags.sidecar-injector.io']);
        const tag = await findTag(client, name);
        const revision = earlierRevision(tag);
        const set = commandLine`injector tag set ${name} --overwrite -r REVISION`;
        const unknown = `tag ${name}: nothing records which revision it had before ${tag.spec.revision}; \`${set}\` sets one, and \`injector revisions\` lists them; nothing was changed`;
        if (revision === undefined) throw new Error(unknown);
        const request = { name, revision, autoInjectNamespaces: undefined };
        const skipsSteps = commandLine`injector tag promote ${name} --full`;
        const isRollout = await setTag(client, request, { ...options, revision, overwrite: true }, terminal);
        const outside = `workloads outside its share still get revision ${tag.status?.stableRevision ?? tag.spec.revision}`;
        if (isRollout) terminal.out(`${outside}; \`${skipsSteps}\` ends that now`);
      }),
    );
}

/** Moves a tag. @returns whether a rollout has begun */
async function setTag(
  client: ApiClient,
  request: TagRequest,
  options: SetOptions,
  terminal: Terminal,
): Promise<boolean> {
  const { name, revision } = request;
  await checkRights(client, tagRights('list', 'create', 'patch'));
  const installation = await readInstallation(client);
  const plan = planTagSet(request, options.overwrite === true, installation);
  if (plan.action === 'refuse') throw new Error(plan.message);
  if (plan.action === 'nothing') {
    terminal.out(`RevisionTag ${name}: ${describeStanding(plan.tag)}`);
    return false;
  }
  const { tag, before, concerns } = plan;
  const health = healthOfClass(installation.health, tag.spec.operatorClass);
  if (!isAlive(health))
    terminal.error([...healthLines(health), 'the tag moves when an operator runs; until then, only its spec changes']);
  const followers = await readFollowers(client, installation, tag);
  const isRollout = before !== undefined && beginsRollout(before, revision);
  const isAgreed = options.skipConfirmation === true || options.yes === true;
  if (isRollout && !isAgreed) await showDiff(client, request, terminal);
  if ((concerns.length > 0 || isRollout) && !(await agrees(terminal, concerns, isAgreed))) return false;

  const written = await writeTag(client, tag, before);
  terminal.out(`RevisionTag ${name}: ${describeMove(revision, before, isRollout)}`);
  if (options.timeout > 0) {
    const { timeout } = options;
    const why = await untilPublished(client, name, written.metadata.generation ?? 0, isRollout, timeout);
    if (why !== undefined)
      throw new Error(`RevisionTag ${name}: not published after ${timeout} s; pods get the previous revision: ${why}`);
    terminal.out(isRollout ? 'the rollout is under way' : 'new pods get the revision now');
  }
  const restarts = before && describeRestarts(before, isRollout);
  if (isRollout) {
    if (restarts !== undefined) terminal.out(restarts);
    terminal.out(`\`${commandLine`injector tag watch ${name}`}\` shows its progress`);
    return true;
  }
  const keys = keysOfTag(installation, tag);
  const [key, value] = name === defaultRevision ? [keys.injection, 'enabled'] : [keys.revision, name];
  if (!hasFollowers(followers)) {
    terminal.out(`to let a namespace follow the tag: ${commandLine`kubectl label namespace NAME ${key}=${value}`}`);
    return false;
  }
  const then = restarts ?? 'running pods get the revision when they are restarted';
  const command = restarts === undefined ? 'injector status --stale' : commandLine`injector tag watch ${name}`;
  terminal.out(`the tag is followed by ${describeFollowers(followers)}; ${then}: \`${command}\``);
  return false;
}

/** Prints how the pods that follow a tag will change. If this fails, the tag can still move. */
async function showDiff(client: ApiClient, { name, revision }: TagRequest, terminal: Terminal): Promise<void> {
  try {
    printSummary(terminal, await diffCluster(client, { tag: name, ...toRevision(client, revision) }, terminal));
    const full = commandLine`injector diff --to ${revision} --tag ${name} -o yaml`;
    terminal.out([`\`${full}\` shows this comparison in full`, '']);
  } catch (error) {
    terminal.error(`cannot predict how pods change: ${messageOf(error)}`);
  }
}

/**
 * Describes the restarts after a move, and whether they are allowed; undefined if the spec
 * requests no restarts.
 * @param isRollout whether the tag moves in steps
 */
function describeRestarts(
  { spec: { strategy }, status }: Pick<RevisionTag, 'spec' | 'status'>,
  isRollout: boolean,
): string | undefined {
  const isAfterRollback = strategy?.restart === undefined;
  if (strategy === undefined || (isAfterRollback && !(isRollout && strategy.rollback?.restart === 'Canary')))
    return undefined;
  const updated = isInPlace(strategy) ? 'updated in place, or restarted where this is not possible' : 'restarted';
  const what = isAfterRollback
    ? `if it is rolled back, workloads with the canary are ${updated}`
    : isRollout
      ? `workloads are ${updated} when they enter the share`
      : `workloads with running pods are ${updated}`;
  const { maxUnavailableWorkloads, perNamespace } = restartBounds(strategy);
  const field = isAfterRollback ? 'spec.strategy.rollback' : 'spec.strategy.restart';
  const bounds = `${plural(maxUnavailableWorkloads, 'workload')} at a time, ${perNamespace} per namespace (${field})`;
  const restarts = status?.restarts;
  const obstacle = restarts?.phase === 'NotAllowed' ? `; currently not allowed: ${restarts.message}` : '';
  const opensAt = nextOpening(strategy.windows, Date.now());
  const wait = opensAt === undefined ? '' : `; ${whenOpen(opensAt)}`;
  return `${what}, ${bounds}${wait}${obstacle}`;
}

/** Reports whether a move begins a rollout: the tag has a canary strategy and another revision. */
function beginsRollout({ spec, status }: RevisionTag, revision: string): boolean {
  const stable = status?.rollout?.stable.revision ?? status?.stableRevision;
  return spec.strategy?.canary !== undefined && stable !== undefined && stable !== revision;
}

/** Describes the result of a write. */
function describeMove(revision: string, before: RevisionTag | undefined, isRollout: boolean): string {
  if (before === undefined) return `created; points to revision ${revision}`;
  const underWay = rolloutUnderWay(before);
  if (underWay?.canary.revision === revision) return `changed; the rollout to revision ${revision} continues`;
  const ended = underWay === undefined ? '' : `the rollout to revision ${underWay.canary.revision} ends; `;
  if (!isRollout) return `${ended}moved from revision ${before.spec.revision} to revision ${revision}`;
  const { stableRevision = '?', rollout } = before.status ?? {};
  const steps = plural(before.spec.strategy?.canary?.steps.length ?? 0, 'step');
  return `${ended}a rollout from revision ${rollout?.stable.revision ?? stableRevision} to ${revision} begins, in ${steps} (spec.strategy.canary)`;
}

/** Describes a tag whose spec already has the requested revision. */
function describeStanding(tag: RevisionTag): string {
  const { name } = tag.metadata;
  const { revision } = tag.spec;
  if (rolloutUnderWay(tag) !== undefined)
    return `the rollout to revision ${revision} is under way; \`${commandLine`injector tag watch ${name}`}\` shows its progress`;
  const { stableRevision = 'nothing' } = tag.status ?? {};
  const { reason, message } = readinessOf(tag);
  if (stableRevision !== revision)
    return `the spec already has revision ${revision}, but pods get ${stableRevision}: ${reason}: ${message}`;
  const restarts = restartLine(tag);
  return `already points to revision ${revision}${restarts === undefined ? '' : `; ${restarts}`}`;
}

/** How often to read the tag, in milliseconds. */
const interval = 200;

/**
 * Waits until new pods get the revision of a tag, or until its rollout is under way.
 * @param generation the generation of the written tag
 * @param isRollout whether the tag moves in steps
 * @param seconds the time limit
 * @returns why new pods do not get the revision; undefined if new pods get it
 */
export async function untilPublished(
  client: Pick<ApiClient, 'find'>,
  name: string,
  generation: number,
  isRollout: boolean,
  seconds: number,
): Promise<string | undefined> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const tag = await client.find<RevisionTag>(revisionTags, name);
    if (tag === undefined) return 'the tag was deleted';
    if (isRollout && hasBegun(tag, generation)) return undefined;
    const why = whyNotPublished(tag, generation);
    if (why === undefined || performance.now() >= end) return why;
    await sleep(interval);
  }
}

function hasBegun(tag: RevisionTag, generation: number): boolean {
  const isSeen = (tag.status?.observedGeneration ?? 0) >= generation;
  return isSeen && rolloutUnderWay(tag)?.canary.revision === tag.spec.revision;
}

function whyNotPublished({ metadata, spec, status }: RevisionTag, generation: number): string | undefined {
  const latest = Math.max(generation, metadata.generation ?? 0);
  const { ready, reason, message } = readinessOf({ metadata: { generation: latest }, status });
  if (ready && status?.stableRevision === spec.revision) return undefined;
  return `${reason}: ${message}`;
}
