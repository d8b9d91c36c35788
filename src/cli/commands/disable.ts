import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { commandLine, inSequence } from '../../api/command-line.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError, messageOf } from '../../kube/api-error.ts';
import { namespaces } from '../../operator/cluster-view.ts';
import { webhooksOf } from '../../operator/webhooks/published-webhook.ts';
import { compileSelectors, type SelectorPair } from '../../selection/selecting-webhook.ts';
import { commandLineManager } from '../cluster-options.ts';
import { attemptChange, releaseHeldPods, type SwitchChange, withdraw } from '../kill-switch/release-held-pods.ts';
import {
  onCluster,
  storedRevision,
  switchCommand,
  type SwitchOptions,
  type SwitchTargets,
  switchTargets,
} from '../kill-switch/switch-targets.ts';
import { checkRights } from '../precautions.ts';
import { formatNames, plural } from '../report/write-report.ts';
import type { Terminal } from '../terminal.ts';

/** How many times to check that no operator restores the webhooks, `checkIntervalMs` apart. */
const checks = 4;
const checkIntervalMs = 250;
/** How long to wait for the list of namespaces. */
const listMilliseconds = 2000;

/**
 * `injector disable`: disables injectors with only a kubeconfig, without the operator. It sets
 * spec.paused first, so that no operator restores the webhooks. Then it deletes the webhooks. No
 * admission webhook can prevent this: the API server calls none for webhook configurations.
 */
export function disableCommand(terminal: Terminal): Command {
  return switchCommand('disable', 'disable injectors, so that pods start without them').action(
    (names: string[], options: SwitchOptions) => onCluster(names, options, terminal, disable),
  );
}

async function disable(client: ApiClient, options: SwitchOptions, terminal: Terminal): Promise<boolean> {
  await checkRights(client, [
    'list injectorconfigs.sidecar-injector.io',
    'patch injectorconfigs.sidecar-injector.io',
    'list mutatingwebhookconfigurations.admissionregistration.k8s.io',
    'delete mutatingwebhookconfigurations.admissionregistration.k8s.io',
  ]);
  const targets = await switchTargets(client, options);
  const { configs, webhooks, isSelected, notes } = targets;
  if (configs.length + webhooks.length === 0) {
    terminal.out('nothing to disable: the cluster has no InjectorConfig and no injector webhook');
    return true;
  }
  const isDryRun = options.dryRun === true;
  const undo = undoOf(configs, options.all === true);
  terminal.error(await announcement(client, targets, undo));
  const changes = [
    // Write in parallel, because each write waits for the timeout if the validating webhook hangs.
    ...(await Promise.all(configs.map((config) => pause(client, config, isDryRun)))),
    ...(await Promise.all(webhooks.map((webhook) => withdraw(client, webhook, isDryRun)))),
  ];
  if (!isDryRun) changes.push(...(await leftovers(client, isSelected)));
  const names = webhooks.map(({ metadata }) => metadata.name ?? '');
  const released = { isAll: options.all === true, isSelected, names };
  const isHolding = configs.some(({ spec }) => failurePolicyOf(spec) === 'Hold');
  try {
    changes.push(...(await releaseHeldPods(client, released, isDryRun)));
  } catch (error) {
    // Without Hold, the command needs no permission for pods and policies.
    if (!isHolding && error instanceof ApiError && error.code === 403) terminal.error(messageOf(error));
    else changes.push({ line: `held pods: not released: ${messageOf(error)}`, failed: true });
  }
  terminal.out([...changes.map(({ line }) => line), ...notes]);
  const hasFailed = changes.some(({ failed }) => failed === true);
  if (!isDryRun) terminal.out(`${hasFailed ? failure : success}; ${undo}`);
  return !hasFailed;
}

function failurePolicyOf(spec: unknown): unknown {
  return (spec as { webhook?: { failurePolicy?: unknown } } | undefined)?.webhook?.failurePolicy;
}

/** Says what the command is about to do; it needs no right to list namespaces. */
async function announcement(client: ApiClient, { configs, webhooks }: SwitchTargets, undo: string): Promise<string> {
  if (webhooks.length === 0 && !configs.some(isRunning))
    return `pauses and deletes nothing: ${plural(configs.length, 'InjectorConfig')} paused before, without a webhook; ${undo}`;
  const selectors = webhooks.flatMap(webhooksOf).map((webhook) => compileSelectors(webhook as SelectorPair));
  const isSelected = ({ metadata: { labels = {} } }: KubernetesObject): boolean =>
    selectors.some((each) => each.namespace(labels) && each.pod({}));
  // Without an answer, the switch must not wait for a list that it does not need.
  const late = sleep(listMilliseconds, undefined, { ref: false }).then(() =>
    Promise.reject(new Error('no answer yet')),
  );
  const where = await Promise.race([client.listAll(namespaces), late]).then(
    ({ items }) => {
      const names = items.filter(isSelected).map(({ metadata }) => metadata.name ?? '');
      return `${plural(names.length, 'namespace')} (${formatNames(names)})`;
    },
    (error: unknown) => `namespaces that cannot be listed (${messageOf(error)})`,
  );
  return `pauses ${plural(configs.filter(isRunning).length, 'InjectorConfig')} and deletes ${plural(webhooks.length, 'webhook configuration')}: new pods start without their sidecar in ${where}, and wherever their own labels ask for it; ${undo}`;
}

/** Says how to bring injection back; leaves out what was paused before, unless all was. */
function undoOf(configs: readonly KubernetesObject[], isAll: boolean): string {
  const running = configs.filter(isRunning);
  const revisions = [...new Set((running.length > 0 ? running : configs).map(storedRevision))];
  if (revisions.length === 0) return 'no command brings them back, because their InjectorConfigs do not exist';
  if (isAll && running.length === configs.length) return 'to undo: `injector enable --all`';
  const [first = '', ...others] = revisions.map((revision) => commandLine`injector enable ${revision}`);
  const names = others.map((each) => each.replace('injector enable ', ' '));
  const isOne = ![first, ...others].some((each) => each.startsWith('#'));
  return `to undo: \`${isOne ? `${first}${names.join('')}` : inSequence([first, ...others])}\``;
}

function isRunning({ spec }: KubernetesObject): boolean {
  return (spec as { paused?: boolean } | undefined)?.paused !== true;
}

const success = 'new pods now start without these injectors';
const failure =
  'incomplete: a running operator restores the webhooks of InjectorConfigs that are not paused, and webhooks that are not deleted still refuse pods';

async function pause(client: ApiClient, config: KubernetesObject, isDryRun: boolean): Promise<SwitchChange> {
  const what = `InjectorConfig ${config.metadata.name ?? ''}`;
  if (!isRunning(config)) return { line: `${what}: already paused` };
  if (isDryRun) return { line: `${what}: would be paused` };
  const how = { fieldManager: commandLineManager };
  return attemptChange(what, 'paused', () => client.patch(config, 'merge', { spec: { paused: true } }, how));
}

/** Deletes webhooks that an operator restored before it read spec.paused. */
export async function leftovers(
  client: ApiClient,
  isSelected: (webhook: KubernetesObject) => boolean,
): Promise<SwitchChange[]> {
  const changes: SwitchChange[] = [];
  for (let check = 1; ; check += 1) {
    const left = (await switchTargets(client, { all: true })).webhooks.filter(isSelected);
    if (left.length === 0) return changes;
    if (check === checks) return [...changes, ...left.map(stillThere)];
    const again = left.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    for (const webhook of again) changes.push(await withdraw(client, webhook, false));
    await sleep(checkIntervalMs);
  }
}

function stillThere({ metadata }: KubernetesObject): SwitchChange {
  const holders = metadata.finalizers ?? [];
  const why = holders.length === 0 ? 'another client restores it' : `it has the finalizers ${holders.join(', ')}`;
  return { line: `MutatingWebhookConfiguration ${metadata.name ?? ''}: still there: ${why}`, failed: true };
}
