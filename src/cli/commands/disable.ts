import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ignoreNotFound } from '../../kube/api-error.ts';
import { commandLineManager } from '../cluster-options.ts';
import { messageOf } from '../files.ts';
import { checkRights } from '../kill-switch/check-rights.ts';
import { onCluster, switchCommand, type SwitchOptions } from '../kill-switch/switch-options.ts';
import { switchTargets } from '../kill-switch/switch-targets.ts';
import type { Terminal } from '../terminal.ts';

/** What became of one object. */
interface Deed {
  readonly line: string;
  readonly failed?: true;
}

/** How often what was deleted is looked for, and how long between, in milliseconds: an operator may just have been writing it. */
const looks = 4;
const betweenMs = 250;

/**
 * `injector disable`: takes injectors out of the way with nothing but a kubeconfig, whether or not any operator or replica is alive: spec.paused first, so that
 * no operator puts the webhooks back, then the webhooks, which the API server lets nobody's webhook stop.
 */
export function disableCommand(terminal: Terminal): Command {
  return switchCommand('disable', 'take injectors out of the way: pods start without them').action(
    (options: SwitchOptions) => onCluster(options, terminal, disable),
  );
}

async function disable(client: ApiClient, options: SwitchOptions, terminal: Terminal): Promise<boolean> {
  await checkRights(client, [
    'list injectorconfigs.sidecar-injector.io',
    'patch injectorconfigs.sidecar-injector.io',
    'list mutatingwebhookconfigurations.admissionregistration.k8s.io',
    'delete mutatingwebhookconfigurations.admissionregistration.k8s.io',
  ]);
  const { configs, webhooks, isMeant, notes } = await switchTargets(client, options);
  if (configs.length + webhooks.length === 0) {
    terminal.out('nothing to disable: the cluster has no InjectorConfig and no webhook of one\n');
    return true;
  }
  const isDryRun = options.dryRun === true;
  const deeds = [
    // Together: where the validating webhook hangs each of them takes its timeout.
    ...(await Promise.all(configs.map((config) => pause(client, config, isDryRun)))),
    ...(await Promise.all(webhooks.map((webhook) => withdraw(client, webhook, isDryRun)))),
  ];
  if (!isDryRun) deeds.push(...(await leftovers(client, isMeant)));
  for (const line of [...deeds.map((deed) => deed.line), ...notes]) terminal.out(`${line}\n`);
  const hasFailed = deeds.some(({ failed }) => failed === true);
  if (!isDryRun) terminal.out(hasFailed ? failure : success);
  return !hasFailed;
}

const success = 'pods start without these injectors now; `injector enable`, with the same options, takes it back\n';
const failure =
  'not everything is done: what is not paused, a living operator installs again; what is not deleted, still stops pods\n';

async function pause(client: ApiClient, config: KubernetesObject, isDryRun: boolean): Promise<Deed> {
  const what = `InjectorConfig ${config.metadata.name ?? ''}`;
  if ((config.spec as { paused?: boolean } | undefined)?.paused === true) return { line: `${what}: paused already` };
  if (isDryRun) return { line: `${what}: would be paused` };
  const how = { fieldManager: commandLineManager };
  return attempt(what, 'paused', () => client.patch(config, 'merge', { spec: { paused: true } }, how));
}

export async function withdraw(client: ApiClient, webhook: KubernetesObject, isDryRun: boolean): Promise<Deed> {
  const what = `MutatingWebhookConfiguration ${webhook.metadata.name ?? ''}`;
  if (isDryRun) return { line: `${what}: would be deleted` };
  return attempt(what, 'deleted', () => client.delete(webhook).catch(ignoreNotFound));
}

async function attempt(what: string, done: string, act: () => Promise<unknown>): Promise<Deed> {
  try {
    await act();
    return { line: `${what}: ${done}` };
  } catch (error) {
    return { line: `${what}: not ${done}: ${messageOf(error)}`, failed: true };
  }
}

/** What is there all the same: put back by an operator that had not seen the pause yet, or held by a finalizer. */
export async function leftovers(client: ApiClient, isMeant: (webhook: KubernetesObject) => boolean): Promise<Deed[]> {
  const deeds: Deed[] = [];
  for (let look = 1; ; look += 1) {
    const left = (await switchTargets(client, { all: true })).webhooks.filter(isMeant);
    if (left.length === 0) return deeds;
    if (look === looks) return [...deeds, ...left.map(stillThere)];
    const again = left.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    for (const webhook of again) deeds.push(await withdraw(client, webhook, false));
    await sleep(betweenMs);
  }
}

function stillThere({ metadata }: KubernetesObject): Deed {
  const holders = metadata.finalizers ?? [];
  const why = holders.length === 0 ? 'somebody makes it again' : `held by finalizers ${holders.join(', ')}`;
  return { line: `MutatingWebhookConfiguration ${metadata.name ?? ''}: still there: ${why}`, failed: true };
}
