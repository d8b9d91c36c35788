import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { labelNames, objectNames } from '../../api/names.ts';
import { type Certificate, parseBundle } from '../../certs/read-certificate.ts';
import { namesThere } from '../../explain/nearest-name.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { secretText } from '../../operator/certificates/secret-text.ts';
import { readReplicaLease, replicaOf } from '../../operator/replicas/replica-lease.ts';
import { UsageError } from '../terminal.ts';
import { listWhereKnown } from '../usage/installation.ts';
import type { CertificateObservation } from './certificate-report.ts';
import { ourWebhooksOf } from '../../operator/webhooks/published-webhook.ts';
import { injectorConfigs, leases, mutatingWebhooks, secrets } from '../../operator/cluster-view.ts';

/** The age of the last heartbeat beyond which a replica is ignored, in milliseconds. */
const heartbeatLimit = 60_000;

type Lease = KubernetesObject & { spec?: { renewTime?: string } };

/** An InjectorConfig as the API server returns it, without defaults. */
export type ReadConfig = Pick<InjectorConfig, 'metadata' | 'status'> & {
  readonly spec?: {
    readonly operatorClass?: string;
    readonly certificate?: Partial<InjectorConfig['spec']['certificate']>;
  };
};

/** Returns the named InjectorConfigs, or all if there are no names. @throws UsageError */
export async function readConfigs(client: Pick<ApiClient, 'listAll'>, names: readonly string[]): Promise<ReadConfig[]> {
  const items = (await listWhereKnown(client, injectorConfigs)) as ReadConfig[];
  const missing = names.filter((name) => items.every(({ metadata }) => metadata.name !== name));
  const [first] = missing;
  if (first !== undefined) {
    const there = namesThere(
      first,
      items.map(({ metadata }) => metadata.name),
    );
    throw new UsageError(`InjectorConfig ${missing.join(', ')} does not exist; ${there}`);
  }
  return items.filter(({ metadata }) => names.length === 0 || names.includes(metadata.name));
}

/** Returns the webhook configurations of an InjectorConfig and of the tags that point to it. */
export async function readWebhookConfigurations(
  client: Pick<ApiClient, 'listAll'>,
  name: string,
): Promise<KubernetesObject[]> {
  const labelSelector = `${labelNames.injectorConfig}=${name}`;
  return (await client.listAll(mutatingWebhooks, { labelSelector })).items;
}

/**
 * Reads the inputs of `certs status`. Without the right to list Leases, the result has no replicas.
 * @param namespaces the candidates for the operator's namespace: `known`, else the namespace of the
 *   webhook's Service, else `otherwise`
 */
export async function observeCertificates(
  client: Pick<ApiClient, 'listAll' | 'find'>,
  config: ReadConfig,
  { known, otherwise }: { readonly known: string | undefined; readonly otherwise: string | undefined },
  now: Date,
): Promise<CertificateObservation> {
  const { name } = config.metadata;
  const configurations = await readWebhookConfigurations(client, name);
  const where = known ?? operatorNamespace(configurations) ?? otherwise;
  const seen = { config, configurations, now };
  if (where === undefined) {
    const unreadable =
      'the namespace of the operator is unknown, so its Secrets were not read: use --namespace to name the namespace';
    return { ...seen, chain: undefined, unreadable, replicas: new Map() };
  }
  const replicas = await unlessForbidden(readReplicas(client, where, name, now));
  const secret = await unlessForbidden(client.find(secrets, objectNames(name).servingSecret, { namespace: where }));
  return {
    ...seen,
    replicas: replicas instanceof ApiError ? new Map<string, string | undefined>() : replicas,
    chain: secret === undefined || secret instanceof ApiError ? undefined : chainOf(secret),
    ...(secret instanceof ApiError ? { unreadable: `the serving Secret was not read: ${secret.message}` } : {}),
  };
}

function chainOf(secret: KubernetesObject): Certificate[] | undefined {
  const text = secretText(secret)['tls.crt'];
  return text === undefined ? undefined : parseBundle(text);
}

/** Returns the namespace of the Service in the webhooks; undefined when the webhooks have a url. */
function operatorNamespace(configurations: readonly KubernetesObject[]): string | undefined {
  const services = configurations.flatMap(ourWebhooksOf).map(({ clientConfig }) => clientConfig?.service);
  return services.find((service) => service !== undefined)?.namespace;
}

async function readReplicas(
  client: Pick<ApiClient, 'listAll'>,
  namespace: string,
  name: string,
  now: Date,
): Promise<Map<string, string | undefined>> {
  const { items } = await client.listAll<Lease>(leases, { namespace, labelSelector: labelNames.replica });
  // Clocks differ between machines, so the limit is long.
  const isLive = ({ spec }: Lease): boolean => now.getTime() - Date.parse(spec?.renewTime ?? '') < heartbeatLimit;
  const live = items.filter(isLive).map((lease) => ({ replica: replicaOf(lease), ...readReplicaLease(lease) }));
  return new Map(
    live
      .filter(({ isDraining, serves }) => !isDraining && serves.has(name))
      .map(({ replica, serves }) => [replica, serves.get(name)?.certificate]),
  );
}

async function unlessForbidden<Value>(reading: Promise<Value>): Promise<Value | ApiError> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ApiError && error.code === 403) return error;
    throw error;
  }
}
