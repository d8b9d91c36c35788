import type { Command } from 'commander';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ignoreNotFound } from '../../kube/api-error.ts';
import { mutatingWebhooks } from '../../operator/cluster-view.ts';
import { poll } from '../install/until-available.ts';
import { type SwitchChange, listHoldPolicies, releaseHeldPods } from '../kill-switch/release-held-pods.ts';
import { onCluster, switchCommand, type SwitchOptions, switchTargets } from '../kill-switch/switch-targets.ts';
import type { Terminal } from '../terminal.ts';

interface ReleaseOptions extends SwitchOptions {
  /** The webhook configuration that owns the webhooks and policies of an installation. */
  readonly owner?: string;
}

/** How long garbage collection may need to delete what an owner owned, in seconds. */
const collectionSeconds = 60;

/** `injector release`: lets held pods start without their sidecar, with or without an operator. */
export function releaseCommand(terminal: Terminal): Command {
  return switchCommand('release', 'let pods that failurePolicy Hold holds start without their sidecar')
    .option('--owner <name>', 'delete this owner of all webhooks first, as the chart does before its uninstallation')
    .action((names: string[], options: ReleaseOptions) =>
      // The owner selects the injectors of one installation.
      onCluster(names, options.owner === undefined ? options : { ...options, all: true }, terminal, release),
    );
}

async function release(client: ApiClient, options: ReleaseOptions, terminal: Terminal): Promise<boolean> {
  const isDryRun = options.dryRun === true;
  const changes =
    options.owner === undefined
      ? await releaseSelected(client, options, isDryRun)
      : await releaseOwned(client, options.owner, isDryRun);
  terminal.out(changes.map(({ line }) => line));
  if (changes.length === 0) terminal.out('no pod is held');
  return changes.every(({ failed }) => failed !== true);
}

async function releaseSelected(client: ApiClient, options: ReleaseOptions, isDryRun: boolean): Promise<SwitchChange[]> {
  const { webhooks, isSelected } = await switchTargets(client, options);
  const names = webhooks.map(nameOf);
  // The policies stay: the injectors remain in operation, and hold new pods if they must.
  return releaseHeldPods(client, { isAll: options.all === true, isSelected, names, keepsPolicies: true }, isDryRun);
}

/** Lets the API server's garbage collection delete the webhooks, then releases their pods. */
async function releaseOwned(client: ApiClient, owner: string, isDryRun: boolean): Promise<SwitchChange[]> {
  const isOwned = ({ metadata }: KubernetesObject): boolean =>
    metadata.ownerReferences?.some(({ name }) => name === owner) === true;
  const owned = async (): Promise<KubernetesObject[]> =>
    [...(await client.listAll(mutatingWebhooks)).items, ...(await listHoldPolicies(client))].filter(isOwned);
  const names = (await owned()).map(nameOf);
  const webhook = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration' };
  if (!isDryRun) {
    await client.delete({ ...webhook, metadata: { name: owner } }).catch(ignoreNotFound);
    await poll(collectionSeconds, async () => (await owned()).length === 0);
  }
  const wereDeleted = names.length > 0;
  return releaseHeldPods(
    client,
    { isAll: false, isSelected: isOwned, names, keepsPolicies: true, wereDeleted },
    isDryRun,
  );
}

function nameOf({ metadata }: KubernetesObject): string {
  return metadata.name ?? '';
}
