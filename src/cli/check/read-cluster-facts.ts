import { ConfigurationError } from '../../api/errors.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { labelNames, hashedConfigMapName } from '../../api/names.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';
import { podWebhooks, type WebhookTarget } from '../../explain/pod-webhook.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { ResourceKind } from '../../kube/resource-kinds.ts';
import * as kinds from '../../operator/cluster-view.ts';
import { servedFiles } from '../../operator/configurations/last-good.ts';
import { configurationKey } from '../../routing/route.ts';
import { healthLines, outageOf, readOperatorHealth } from '../usage/operator-health.ts';
import { listWhereKnown } from '../usage/installation.ts';
import type { Facts } from './facts.ts';
import type { FoundFiles } from '../../explain/files/facts.ts';

type Reader = Pick<ApiClient, 'find' | 'listAll'>;

/**
 * Reads the inputs of a check. Webhook configurations and namespaces must be readable. If another
 * object cannot be read, results that need it are `Unknown`, and the message has the reason.
 * @param names the namespaces of the subjects; all namespaces if undefined
 */
export async function readClusterFacts(client: Reader, names?: readonly string[]): Promise<Facts> {
  const [{ items: configurations }, there, injectorConfigs, revisionTags] = await Promise.all([
    client.listAll(kinds.mutatingWebhooks),
    names === undefined
      ? client.listAll(kinds.namespaces).then(({ items }) => items)
      : Promise.all([...new Set(names)].map((name) => client.find(kinds.namespaces, name))),
    listIfAllowed(client, kinds.injectorConfigs, parseInjectorConfig),
    listIfAllowed(client, kinds.revisionTags, parseRevisionTag),
  ]);
  const filesOf = await readConfigurations(client, configurations);
  const classes = [...injectorConfigs.items, ...revisionTags.items].map(({ spec }) => spec.operatorClass);
  const health = await readOperatorHealth(client, classes);
  const { unreadable, replicas } = health;
  const answers = unreadable !== undefined || replicas.some(({ isLive }) => isLive);
  // A pod is concerned only by the policy of its own webhook.
  const silence = (called: WebhookTarget): string => {
    const isAsked = (each?: WebhookTarget) => each && configurationKey(each) === configurationKey(called);
    const own = podWebhooks(configurations).filter((each) => isAsked(each.target) || isAsked(each.canary?.target));
    const outages = new Map([...(health.outages ?? [])].map(([each]) => [each, outageOf(own)]));
    return healthLines({ ...health, outages }).join('; ');
  };
  return {
    configurations,
    namespaces: new Map(there.flatMap((each) => (each ? [[each.metadata.name ?? '', each] as const] : []))),
    filesOf: (target) => (answers ? filesOf(target) : { unavailable: silence(target) }),
    health,
    injectorConfigs: injectorConfigs.items,
    revisionTags: revisionTags.items,
    notes: [...injectorConfigs.notes, ...revisionTags.notes],
  };
}

/** Reads the configurations that webhooks name. */
export async function readConfigurations(client: Reader, configurations: Facts['configurations']) {
  const webhooks = podWebhooks(configurations);
  const targets = webhooks.flatMap(({ target, canary }) => [target ?? [], canary?.target ?? []].flat());
  const distinct = new Map(targets.map((target) => [configurationKey(target), target]));
  const read = async ([key, target]: [string, WebhookTarget]) =>
    [key, await readConfigurationFiles(client, target)] as const;
  const files = new Map<string, FoundFiles>(await Promise.all([...distinct].map(read)));
  return (target: WebhookTarget): FoundFiles =>
    files.get(configurationKey(target)) ?? { unavailable: 'it was not read' };
}

/** Finds the immutable ConfigMap of a configuration by name, or by labels without a namespace. */
export async function readConfigurationFiles(
  client: Reader,
  { injectorConfig, hash, namespace }: WebhookTarget,
): Promise<FoundFiles> {
  const name = hashedConfigMapName(injectorConfig, hash);
  const where = namespace === undefined ? name : `${namespace}/${name}`;
  const labelSelector = `${labelNames.injectorConfig}=${injectorConfig},${labelNames.configurationHash}=${hash}`;
  try {
    const configMap =
      namespace === undefined
        ? (await client.listAll(kinds.configMaps, { labelSelector })).items[0]
        : await client.find(kinds.configMaps, name, { namespace });
    if (configMap === undefined) return { unavailable: `ConfigMap ${where} does not exist` };
    return servedFiles(configMap)?.files ?? { unavailable: `ConfigMap ${where} differs from its hash label` };
  } catch (error) {
    if (error instanceof ApiError) return { unavailable: `ConfigMap ${where} cannot be read: ${error.message}` };
    throw error;
  }
}

/** Lists the valid objects. Notes report invalid objects, or a missing right to list them. */
async function listIfAllowed<T>(client: Reader, resource: ResourceKind, parse: (object: unknown) => T) {
  const { kind } = resource;
  const items: T[] = [];
  const notes: string[] = [];
  let objects: readonly KubernetesObject[];
  try {
    objects = await listWhereKnown(client, resource);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 403) throw error;
    return { items, notes: [`${kind}s cannot be read, so missing webhooks are not explained: ${error.message}`] };
  }
  for (const object of objects) {
    try {
      items.push(parse(object));
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      notes.push(`${kind} ${object.metadata.name ?? ''} is invalid for this version: ${error.message}`);
    }
  }
  return { items, notes };
}
