import type { Command } from 'commander';
import { customResourceDefinitions } from '../../api/crd.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { finalizer, forceDeleteAnnotation, labelNames, leaderLeaseName, managedBy } from '../../api/names.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ignoreNotFound } from '../../kube/api-error.ts';
import { resourceKind, type ResourceKind } from '../../kube/resource-kinds.ts';
import * as kinds from '../../operator/cluster-view.ts';
import { clusterCommand, withCluster, type ClusterOptions } from '../cluster-options.ts';
import { leftovers } from '../commands/disable.ts';
import { messageOf } from '../files.ts';
import { releaseHeldPods } from '../kill-switch/release-held-pods.ts';
import { switchTargets } from '../kill-switch/switch-targets.ts';
import { parseSeconds } from '../option-values.ts';
import { plural } from '../report/write-report.ts';
import { agrees } from '../precautions.ts';
import { exitCodes, type Terminal, UsageError } from '../terminal.ts';
import { listWhereKnown, readInstallation } from '../usage/installation.ts';
import { isAlive } from '../usage/operator-health.ts';
import { readUsage } from '../usage/read-usage.ts';
import { findReleases, type InstalledRelease, releaseName } from './find-releases.ts';
import { poll, podsOfDeployment } from './until-available.ts';

interface UninstallOptions extends ClusterOptions {
  readonly namespace?: string;
  readonly purge?: true;
  readonly yes?: true;
  /** How long to wait until the operator's pods have ended, in seconds. */
  readonly timeout: number;
}

/** The kinds of objects that the operator creates, except mutating webhooks. */
export const operatorKinds = [
  ...[kinds.validatingWebhooks, kinds.leases, kinds.configMaps, kinds.services, kinds.secrets],
  resourceKind('rbac.authorization.k8s.io/v1', 'Role'),
];
const definitionKind = resourceKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
/** How long to wait until a running operator removes finalizers, in seconds; it needs 1 to 2. */
const waitSeconds = 15;

/** `injector uninstall`: removes an installation, with or without a running operator. */
export function uninstallCommand(terminal: Terminal): Command {
  return clusterCommand('uninstall', 'remove the operator and its objects, webhooks first')
    .option('-n, --namespace <name>', 'the namespace of the operator, if there are several operators')
    .option('--purge', 'also remove the CustomResourceDefinitions, with all InjectorConfigs and RevisionTags')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--timeout <seconds>', 'how long to wait until the pods of the operator have ended', parseSeconds, 60)
    .action(async (options: UninstallOptions) => {
      const isDone = await withCluster(options, (client) => uninstall(client, options, terminal));
      if (!isDone) terminal.setExitCode(exitCodes.failure);
    });
}

async function uninstall(client: ApiClient, options: UninstallOptions, terminal: Terminal): Promise<boolean> {
  const { purge = false, yes = false, timeout } = options;
  const { release, isOnly } = chooseRelease(await findReleases(client), options);
  const { objects = [] } = release ?? {};
  const remains = remainsOf(client, (object) => isOnly || classOf(object) === release?.operatorClass, terminal);
  const definitions = await remains.definitions();
  const resources = await remains.resources();
  const webhooks = (await switchTargets(client, { all: true })).webhooks.filter(remains.isSelected);
  const kept = `${plural(definitions.length, 'CustomResourceDefinition')} and ${plural(resources.length, 'custom resource')}`;
  const found = [...objects, ...webhooks, ...(await remains.made()), ...resources.filter(hasFinalizer)];
  if (found.length === 0 && (definitions.length === 0 || !purge)) {
    terminal.out(`nothing to uninstall${definitions.length === 0 ? '' : `; ${kept} are kept; --purge removes them`}`);
    return true;
  }
  const { isRunning, losses } = await readLosses(client);
  const what =
    release === undefined ? 'the objects of an operator' : `${release.name} in namespace ${release.namespace}`;
  const concerns = [...losses, `removes ${what} with its webhooks; ${kept} are ${purge ? 'also removed' : 'kept'}`];
  if (!(await agrees(terminal, concerns, yes))) return true;

  // A running operator does not publish the webhooks again after their owner is deleted.
  await remains.remove(objects.filter(({ kind }) => kind === 'MutatingWebhookConfiguration'));
  const changes = await leftovers(client, remains.isSelected);
  // A running operator removes its finalizers. The code below removes the rest.
  if (purge && isRunning) await remains.removeResources();
  const isDeleting = ({ metadata }: KubernetesObject): boolean => metadata.deletionTimestamp !== undefined;
  if (isRunning) await poll(Math.min(timeout, waitSeconds), async () => !(await remains.resources()).some(isDeleting));
  const deployments = objects.filter(({ kind }) => kind === 'Deployment');
  await remains.remove(deployments);
  const podsLeft = async () => (await Promise.all(deployments.map((each) => podsOfDeployment(client, each)))).flat();
  const hasEnded = await poll(timeout, async () => (await podsLeft()).length === 0);
  if (!hasEnded)
    terminal.error(`the pods of the operator have not ended after ${timeout} s: objects that they write now remain`);
  // The operator may have restored webhooks before it ended.
  changes.push(...(await leftovers(client, remains.isSelected)));
  const names = webhooks.map(({ metadata }) => metadata.name ?? '');
  changes.push(...(await releaseHeldPods(client, { isAll: false, isSelected: remains.isSelected, names }, false)));
  terminal.out(changes.map(({ line }) => line));
  await remains.remove(await remains.made());
  await remains.removeFinalizers();
  if (purge) await remains.removeResources();
  const isHome = ({ kind }: KubernetesObject): boolean => kind === 'Namespace';
  const rest = objects.filter((each) => !/^(?:MutatingWebhookConfiguration|Deployment|Namespace)$/.test(each.kind));
  await remains.remove([...rest, ...(purge ? definitions : []), ...objects.filter(isHome)]);
  const isDone = hasEnded && changes.every(({ failed }) => failed !== true);
  terminal.out(
    isDone
      ? `uninstalled${purge ? '' : `; ${kept} are kept`}`
      : 'some objects remain: fix the problems above and run this command again',
  );
  return isDone;
}

/** @throws UsageError if --namespace is missing, or --purge would affect other releases */
function chooseRelease(all: readonly InstalledRelease[], { namespace, purge }: UninstallOptions) {
  const release = all.find((each) => each.namespace === (namespace ?? each.namespace));
  const isOnly = all.length <= 1;
  if (namespace === undefined ? isOnly : release !== undefined && (isOnly || purge !== true))
    return { release, isOnly };
  const there = all.map(({ name, namespace: home }) => `${name} in namespace ${home}`).join(', ') || 'none exists';
  throw new UsageError(`name a release with --namespace, and use --purge only for the last release: ${there}`);
}

/** Returns functions that list and remove the objects of an operator. */
function remainsOf(client: ApiClient, isSelected: (object: KubernetesObject) => boolean, terminal: Terminal) {
  const list = async (all: readonly ResourceKind[], labelSelector?: string): Promise<KubernetesObject[]> =>
    (await Promise.all(all.map((kind) => listWhereKnown(client, kind, labelSelector)))).flat().filter(isSelected);
  const remove = async (objects: readonly KubernetesObject[]): Promise<void> => {
    for (const object of objects) {
      await client.delete(object).catch(ignoreNotFound);
      terminal.out(`${releaseName(object)}: deleted`);
    }
  };
  const resources = (): Promise<KubernetesObject[]> => list([kinds.revisionTags, kinds.injectorConfigs]);
  return {
    isSelected,
    remove,
    resources,
    /** Lists all objects except mutating webhooks. The Lease of the leader has no label. */
    made: async (): Promise<KubernetesObject[]> => {
      const isLeader = ({ metadata }: KubernetesObject) => metadata.name?.startsWith(leaderLeaseName('')) === true;
      const labelled = await list(operatorKinds, `${labelNames.managedBy}=${managedBy}`);
      return [...labelled, ...(await list([kinds.leases])).filter(isLeader)];
    },
    definitions: async (): Promise<KubernetesObject[]> => {
      const names = customResourceDefinitions().map(({ metadata }) => metadata.name);
      return (await client.listAll(definitionKind)).items.filter(({ metadata }) => names.includes(metadata.name));
    },
    /** Removes custom resources even if they are in use. */
    removeResources: async (): Promise<void> => {
      for (const object of await resources()) {
        await client.patch(object, 'merge', { metadata: { annotations: { [forceDeleteAnnotation]: 'true' } } });
        await remove([object]);
      }
    },
    removeFinalizers: async (): Promise<void> => {
      for (const object of (await resources()).filter(hasFinalizer)) {
        const { resourceVersion, finalizers = [] } = object.metadata;
        const left = finalizers.filter((each) => each !== finalizer);
        await client.patch(object, 'merge', { metadata: { finalizers: left, resourceVersion } });
        terminal.out(`${releaseName(object)}: finalizer removed`);
      }
    },
  };
}

function hasFinalizer({ metadata }: KubernetesObject): boolean {
  return metadata.finalizers?.includes(finalizer) === true;
}

/** Returns the operator class of an object that an operator created. */
function classOf({ metadata: { labels = {}, name = '' }, spec, kind }: KubernetesObject): string | undefined {
  if (kind === 'Lease') return labels[labelNames.replica] ?? name.slice(leaderLeaseName('').length);
  return labels[labelNames.operatorClass] ?? (spec as { operatorClass?: string } | undefined)?.operatorClass;
}

/** Returns the workloads that lose injection, and whether an operator is running. */
async function readLosses(client: ApiClient): Promise<{ isRunning: boolean; losses: string[] }> {
  try {
    const installation = await readInstallation(client);
    const { workloads, notes } = await readUsage(client, installation);
    const losses = workloads
      .filter(({ current, stale, expected }) => expected !== undefined && current + stale > 0)
      .map(({ namespace, workload, injectorConfig, current, stale }) => {
        const pods = plural(current + stale, 'pod');
        return `${namespace} ${workload} loses injection by ${injectorConfig}: ${pods}, when they are recreated`;
      });
    return { isRunning: isAlive(installation.health), losses: [...losses, ...notes] };
  } catch (error) {
    return { isRunning: false, losses: [`cannot determine which workloads lose injection: ${messageOf(error)}`] };
  }
}
