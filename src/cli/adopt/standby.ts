import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import { injectorConfigKind, type InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { revisionTagKind } from '../../api/revision-tag/revision-tag.ts';
import { type MutatingWebhook, podWebhooks, type PodWebhook } from '../../explain/pod-webhook.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { injectorConfigs, mutatingWebhooks, pods } from '../../operator/cluster-view.ts';
import { clusterCommand, type ClusterOptions, commandLineManager, withCluster } from '../cluster-options.ts';
import { readFileObjects } from '../commands/check.ts';
import { untilReady } from '../commands/enable.ts';
import { parseSeconds } from '../option-values.ts';
import { checkRights } from '../precautions.ts';
import { formatNames, plural } from '../report/write-report.ts';
import { exitCodes, type Terminal, UsageError } from '../terminal.ts';
import { adoptionOf, reverterOf } from './adoption.ts';
import { barePodOf, isByOurs, hasStatus } from './compare-injectors.ts';
import { inParallel } from './in-parallel.ts';
import { despiteConflicts, istioConfigurations, moveRights, replace, valueWithoutWebhook } from './moves.ts';
import { newestPods } from './newest-pods.ts';
import { readInjectors } from './prove.ts';
import { enough } from './sample-pods.ts';
import { standbyCondition } from './standby-condition.ts';

interface WaitOptions extends ClusterOptions {
  readonly timeout: number;
}

interface StandbyOptions extends WaitOptions {
  readonly filename: readonly string[];
}

/** `injector adopt standby`: publishes this injector behind Istio's, which still injects. */
export function standbyCommand(terminal: Terminal): Command {
  return clusterCommand('standby', "publish this injector behind Istio's: it injects only what Istio's does not")
    .requiredOption('-f, --filename <file...>', 'files with InjectorConfigs and RevisionTags')
    .option('--timeout <seconds>', 'how long to wait until they are Ready', parseSeconds, 60)
    .action((options: StandbyOptions) => withCluster(options, (client) => standby(client, options, terminal)));
}

async function standby(client: ApiClient, options: StandbyOptions, terminal: Terminal): Promise<void> {
  const objects = await readFileObjects(terminal, options.filename, '-f');
  const wanted = objects.filter(({ kind }) => kind === injectorConfigKind || kind === revisionTagKind);
  if (wanted.length === 0) throw new UsageError('-f: the files contain no InjectorConfig');
  const applied: KubernetesObject[] = [];
  for (const object of wanted) {
    const next = object.kind === injectorConfigKind ? standingBy(object, true) : object;
    applied.push(await client.apply(next, { fieldManager: commandLineManager }));
  }
  if (!(await untilReady(client, applied, options.timeout, terminal))) {
    terminal.setExitCode(exitCodes.failure);
    return;
  }
  const { facts } = await readInjectors(client, undefined, undefined, []);
  let [answered, first] = [0, undefined as string | undefined];
  await inParallel(await newestPods(client, undefined, () => undefined), async (workload) => {
    if (first !== undefined || answered >= enough) return;
    const stored = await client.find(pods, workload.pod, { namespace: workload.namespace });
    const bare = stored && barePodOf(stored, workload, facts);
    if (bare?.theirs === undefined) return;
    const answer = await facts.create(bare.pod as unknown as KubernetesObject);
    if (isByOurs(answer))
      first ??= `${workload.kind.toLowerCase()}/${workload.name} in namespace ${workload.namespace}`;
    else if (hasStatus(answer)) answered += 1;
  });
  if (first === undefined) {
    terminal.out(`Istio's injector still injects new pods: ${plural(answered, 'dry run')} show it`);
    return;
  }
  terminal.error(
    `this injector answers for new pods of ${first}: the name of Istio's webhook configuration must sort before sidecar-injector-`,
  );
  terminal.setExitCode(exitCodes.negative);
}

/** Reports whether matchConditions have the condition of the standby. */
export function isOnStandby({ webhook: { matchConditions = [] } }: Pick<PodWebhook, 'webhook'>): boolean {
  return matchConditions.some((each) => isDeepStrictEqual(each, standbyCondition));
}

function conditions(before: readonly Condition[], isStandby: boolean): readonly Condition[] {
  const others = before.filter(({ name }) => name !== standbyCondition.name);
  return isStandby ? [...others, standbyCondition] : others;
}

type Condition = NonNullable<MutatingWebhook['matchConditions']>[number];

/** Returns an InjectorConfig that stands by, or no longer does. */
function standingBy(config: KubernetesObject, isStandby: boolean): KubernetesObject {
  const { webhook, ...spec } = config.spec as Pick<InjectorConfig['spec'], 'webhook'>;
  const { matchConditions = [] } = (webhook as typeof webhook | undefined) ?? {};
  const changed = { takeover: isStandby, matchConditions: conditions(matchConditions, isStandby) };
  return { ...config, spec: { ...spec, webhook: { ...webhook, ...changed } } };
}

/** How long an operator may take to see a change, in milliseconds. */
const observedMs = 5000;

/**
 * Lets the InjectorConfigs of Istio's family stand by, or no longer. Changes their webhooks too, so
 * that they stand by even if no operator runs; an operator writes the same.
 */
export async function setStandby(client: ApiClient, isStandby: boolean): Promise<KubernetesObject[]> {
  const how = { fieldManager: commandLineManager };
  const { items } = await client.listAll(injectorConfigs);
  const family = items.filter((each) => parseInjectorConfig(each).spec.webhook.keys.status === istioKeys.status);
  const written: KubernetesObject[] = [];
  for (const config of family) {
    const { webhook } = standingBy(config, isStandby).spec as { readonly webhook: object };
    written.push(await client.patch(config, 'merge', { spec: { webhook } }, how));
  }
  if (!isStandby) return written;
  // An operator that has not seen the InjectorConfigs would undo a change of its webhooks.
  const end = performance.now() + observedMs;
  while (!(await areObserved(client, written)) && performance.now() < end) await sleep(200);
  const isOfFamily = ({ target }: PodWebhook): boolean =>
    family.some(({ metadata }) => metadata.name === target?.injectorConfig);
  await despiteConflicts(async () => {
    for (const configuration of (await client.listAll(mutatingWebhooks)).items) {
      if (!podWebhooks([configuration]).some((each) => isOfFamily(each) && !isOnStandby(each))) continue;
      const webhooks = (configuration.webhooks as MutatingWebhook[]).map((each) => ({
        ...each,
        matchConditions: conditions(each.matchConditions ?? [], true),
      }));
      await client.replace({ ...configuration, webhooks }, how);
    }
  });
  return written;
}

async function areObserved(client: ApiClient, configs: readonly KubernetesObject[]): Promise<boolean> {
  const { items } = await client.listAll(injectorConfigs);
  return configs.every(({ metadata: { name, generation = 0 } }) => {
    const status = items.find((each) => each.metadata.name === name)?.status as InjectorConfig['status'];
    return (status?.observedGeneration ?? 0) >= generation;
  });
}

/** `injector adopt finish`: deactivates Istio's webhooks, and ends the standby of this injector. */
export function finishCommand(terminal: Terminal): Command {
  return clusterCommand('finish', "deactivate Istio's webhooks after all namespaces have moved, and end the standby")
    .option('--timeout <seconds>', 'how long to wait until this injector is Ready', parseSeconds, 60)
    .action((options: WaitOptions) => withCluster(options, (client) => finish(client, options, terminal)));
}

async function finish(client: ApiClient, options: WaitOptions, terminal: Terminal): Promise<void> {
  await checkRights(client, [...moveRights, 'patch injectorconfigs.sidecar-injector.io']);
  const refuse = (message: string | readonly string[]): void => {
    terminal.error(message);
    terminal.setExitCode(exitCodes.refused);
  };
  const istio = await istioConfigurations(client);
  if (istio.length > 0) {
    const { facts } = await readInjectors(client, undefined, undefined, []);
    const left = new Set<string>();
    await inParallel(await newestPods(client, undefined, () => undefined), async (workload) => {
      const stored = await client.find(pods, workload.pod, { namespace: workload.namespace });
      if (stored && barePodOf(stored, workload, facts)?.theirs) left.add(workload.namespace);
    });
    if (left.size > 0) {
      refuse(
        `nothing was changed: Istio's injector still gets new pods of ${formatNames([...left].sort())}; move them`,
      );
      return;
    }
    for (const each of istio) {
      const reverter = reverterOf(each, ['webhooks', 'namespaceSelector', 'objectSelector']);
      if (reverter === undefined) continue;
      refuse([
        `nothing was changed: MutatingWebhookConfiguration ${each.metadata.name ?? ''} would be reverted by ${reverter}`,
        `leave it out by the values of Istio's chart (${valueWithoutWebhook}), and run \`injector adopt finish\` again`,
      ]);
      return;
    }
    for (const each of istio) {
      await replace(client, each, { ...adoptionOf(each), isDeactivated: true });
      terminal.out(`MutatingWebhookConfiguration ${each.metadata.name ?? ''}: deactivated`);
    }
  }
  const configs = await setStandby(client, false);
  if (!(await untilReady(client, configs, options.timeout, terminal))) terminal.setExitCode(exitCodes.failure);
  else terminal.out('this injector no longer stands by; `injector adopt back` gives all namespaces back');
}
