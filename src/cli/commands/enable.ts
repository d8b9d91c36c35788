import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { tagWebhookConfiguration } from '../../api/names.ts';
import { commandLineManager } from '../cluster-options.ts';
import {
  onCluster,
  storedRevision,
  switchCommand,
  type SwitchOptions,
  switchTargets,
} from '../kill-switch/switch-targets.ts';
import { parseSeconds } from '../option-values.ts';
import { checkRights } from '../precautions.ts';
import { injectorConfigs, mutatingWebhooks, revisionTags } from '../../operator/cluster-view.ts';
import { type Terminal, UsageError } from '../terminal.ts';
import {
  healthLines,
  isAlive as isHealthy,
  type OperatorHealth,
  type Readiness,
  readinessOf,
  readOperatorHealth,
  staleSince,
} from '../usage/operator-health.ts';
import { listWhereKnown } from '../usage/installation.ts';

interface EnableOptions extends SwitchOptions {
  /** How long to wait, in seconds; 0 does not wait. */
  readonly timeout: number;
}

const pollMs = 200;

/** `injector enable`: resumes InjectorConfigs and waits for their webhooks. */
export function enableCommand(terminal: Terminal): Command {
  return switchCommand('enable', 'enable injectors that are disabled or paused')
    .option('--timeout <seconds>', 'how long to wait until they are Ready (0: do not wait)', parseSeconds, 60)
    .action((names: string[], options: EnableOptions) => onCluster(names, options, terminal, enable));
}

async function enable(client: ApiClient, options: EnableOptions, terminal: Terminal): Promise<boolean> {
  await checkRights(client, [
    'list injectorconfigs.sidecar-injector.io',
    'patch injectorconfigs.sidecar-injector.io',
    'list revisiontags.sidecar-injector.io',
    'list mutatingwebhookconfigurations.admissionregistration.k8s.io',
  ]);
  const { configs } = await switchTargets(client, options);
  const revisions = new Set(configs.map(storedRevision));
  const missing = options.revision?.find((each) => !revisions.has(each));
  if (missing !== undefined) throw new UsageError(`no InjectorConfig has the revision ${missing}: create it again`);
  if (configs.length === 0) {
    terminal.out('nothing to enable: there is no InjectorConfig');
    return true;
  }
  const expected = await Promise.all(
    configs.map((config) => resume(client, config, options.dryRun === true, terminal)),
  );
  if (options.dryRun === true || options.timeout === 0) return true;
  const tags = await listWhereKnown(client, revisionTags);
  const revisionsOf = ({ spec, status }: KubernetesObject): (string | undefined)[] => [
    (spec as { revision: string }).revision,
    (status as { stableRevision?: string } | undefined)?.stableRevision,
  ];
  const tagged = tags.filter((tag) => revisionsOf(tag).some((each) => each !== undefined && revisions.has(each)));
  return untilReady(client, [...expected, ...tagged], options.timeout, terminal);
}

async function resume(
  client: ApiClient,
  config: KubernetesObject,
  isDryRun: boolean,
  terminal: Terminal,
): Promise<KubernetesObject> {
  const what = `InjectorConfig ${config.metadata.name ?? ''}`;
  const isPaused = (config.spec as { paused?: boolean } | undefined)?.paused === true;
  if (!isPaused || isDryRun) {
    terminal.out(`${what}: ${isPaused ? 'would be resumed' : 'not paused'}`);
    return config;
  }
  const patched = await client.patch(config, 'merge', { spec: { paused: null } }, { fieldManager: commandLineManager });
  terminal.out(`${what}: no longer paused`);
  return patched;
}

/** Waits until InjectorConfigs are Ready and tags have a webhook. Prints each result. */
export async function untilReady(
  client: ApiClient,
  expected: readonly KubernetesObject[],
  seconds: number,
  terminal: Terminal,
): Promise<boolean> {
  const readHealth = (): Promise<OperatorHealth> => {
    const health = readOperatorHealth(client, expected.map(classOf));
    // The promise may reject before it is awaited.
    health.catch(() => undefined);
    return health;
  };
  // Start early: if Leases are old, reading the health takes seconds.
  let readingHealth = readHealth();
  let health: OperatorHealth | undefined;
  /** Reports whether the status is current: a leader is live, and a tag has its webhook. */
  const isCurrent = async (found: KubernetesObject): Promise<boolean> => {
    health = await readingHealth;
    if (staleSince(health, classOf(found)) !== undefined) return false;
    const { name = '' } = found.metadata;
    if (found.kind !== 'RevisionTag') return true;
    return (await client.find(mutatingWebhooks, tagWebhookConfiguration(name))) !== undefined;
  };
  const waiting = new Map(expected.map((object) => [nameOf(object), object.metadata.generation ?? 0]));
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const there = [...(await listWhereKnown(client, injectorConfigs)), ...(await listWhereKnown(client, revisionTags))];
    for (const [name, generation] of waiting) {
      const found = there.find((object) => nameOf(object) === name);
      if (found === undefined || !readinessAt(found, generation).ready || !(await isCurrent(found))) continue;
      waiting.delete(name);
      terminal.out(`${name}: ${expectedCondition(found)}`);
    }
    if (waiting.size === 0) return true;
    if (performance.now() >= end) {
      health ??= await readingHealth;
      if (!isHealthy(health)) terminal.out(healthLines(health));
      for (const [name, generation] of waiting) {
        const found = there.find((object) => nameOf(object) === name);
        const type = found === undefined ? 'Ready' : expectedCondition(found);
        terminal.out(`${name}: not ${type} after ${seconds} s: ${whyNotReady(found, generation, health)}`);
      }
      return false;
    }
    if (health !== undefined && !isHealthy(health)) readingHealth = readHealth();
    await sleep(pollMs);
  }
}

function classOf({ spec }: KubernetesObject): string {
  return (spec as { operatorClass?: string }).operatorClass ?? 'default';
}

function nameOf({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata.name ?? ''}`;
}

/** Returns the condition to wait for. A tag is not Ready during a rollout, but has a webhook. */
function expectedCondition({ kind }: KubernetesObject): string {
  return kind === 'RevisionTag' ? 'WebhookReady' : 'Ready';
}

function readinessAt(object: KubernetesObject, generation: number): Readiness {
  const status = object.status as Parameters<typeof readinessOf>[0]['status'];
  return readinessOf({ metadata: { generation }, status }, undefined, expectedCondition(object));
}

function whyNotReady(object: KubernetesObject | undefined, generation: number, health: OperatorHealth): string {
  if (object === undefined) return 'it was deleted';
  const { ready, reason, message } = readinessAt(object, generation);
  if (ready && staleSince(health, classOf(object)) !== undefined) return 'no leader has confirmed its status';
  if (ready) return 'its webhook configuration does not exist';
  return reason === 'NotLookedAt' ? message : `${reason}: ${message}`;
}
