import { once } from 'node:events';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import {
  labelNames,
  managedBy,
  objectNames,
  servingRoleName,
  tagWebhookConfiguration,
  isPathProbeName,
} from '../api/names.ts';
import { ObjectStore } from '../kube/object-store.ts';
import type { ObjectKey } from '../kube/request-options.ts';
import type { ReflectorOptions } from '../kube/reflector.ts';
import { apiVersionOf, resourceKind, type ResourceKind } from '../kube/resource-kinds.ts';
import { rolloutInForce, webhooksOf } from './webhooks/published-webhook.ts';

export const injectorConfigs = resourceKind('sidecar-injector.io/v1alpha1', 'InjectorConfig');
export const revisionTags = resourceKind('sidecar-injector.io/v1alpha1', 'RevisionTag');
export const configMaps = resourceKind('v1', 'ConfigMap');
export const secrets = resourceKind('v1', 'Secret');
export const signingRequests = resourceKind('certificates.k8s.io/v1', 'CertificateSigningRequest');
export const certificates = resourceKind('cert-manager.io/v1', 'Certificate');
export const services = resourceKind('v1', 'Service');
export const nodes = resourceKind('v1', 'Node');
export const pods = resourceKind('v1', 'Pod');
export const namespaces = resourceKind('v1', 'Namespace');
export const leases = resourceKind('coordination.k8s.io/v1', 'Lease');
const roles = resourceKind('rbac.authorization.k8s.io/v1', 'Role');
export const mutatingWebhooks = resourceKind('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration');
export const validatingWebhooks = resourceKind('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration');

/** One collection that is followed. */
type Followed = Pick<
  ReflectorOptions<KubernetesObject>,
  'resource' | 'store' | 'namespace' | 'labelSelector' | 'fieldSelector'
>;

/** Everything that the controller sees of the cluster, from watches; it never lists on its own. */
export class ClusterView {
  readonly configs = new ObjectStore();
  readonly tags = new ObjectStore();
  readonly configMaps = new ObjectStore();
  readonly secrets = new ObjectStore();
  readonly services = new ObjectStore();
  /** All of them, also those of others: the owner is one, and whose selectors overlap with ours must be known. */
  readonly mutatingWebhooks = new ObjectStore();
  readonly validatingWebhooks = new ObjectStore();
  /** The one Role that we maintain. */
  readonly roles = new ObjectStore();
  readonly #namespace: string;
  readonly #operatorClass: string;

  constructor(namespace: string, operatorClass: string) {
    this.#namespace = namespace;
    this.#operatorClass = operatorClass;
  }

  /** What must be followed so that this view is complete, beside the InjectorConfigs and RevisionTags themselves. */
  owned(): Followed[] {
    const labelSelector = ownedSelector(this.#operatorClass);
    const ours = { namespace: this.#namespace, labelSelector };
    const fieldSelector = `metadata.name=${servingRoleName(this.#operatorClass)}`;
    return [
      { resource: configMaps, store: this.configMaps, ...ours },
      { resource: secrets, store: this.secrets, ...ours },
      { resource: services, store: this.services, ...ours },
      { resource: mutatingWebhooks, store: this.mutatingWebhooks },
      { resource: validatingWebhooks, store: this.validatingWebhooks, labelSelector },
      { resource: roles, store: this.roles, namespace: this.#namespace, fieldSelector },
    ];
  }

  /** The store in which an object of ours is to be found. */
  storeOf(kind: string): ObjectStore {
    const followed = this.owned().find(({ resource }) => resource.kind === kind);
    if (followed === undefined) throw new Error(`no store follows ${kind}`);
    return followed.store;
  }

  /** An object like this one, as last seen. */
  live(like: Pick<ObjectKey, 'kind' | 'metadata'>): KubernetesObject | undefined {
    return this.storeOf(like.kind).get(like.metadata.name ?? '', like.metadata.namespace);
  }

  /** What InjectorConfigs have, as our labels say. */
  #ours(): KubernetesObject[] {
    const stores = [this.mutatingWebhooks, this.configMaps, this.services, this.secrets];
    return stores.flatMap((store) => store.list().filter((object) => this.isOurs(object)));
  }

  /** Everything that carries the label of an InjectorConfig. */
  belongingTo(name: string): KubernetesObject[] {
    return this.#ours().filter((object) => injectorConfigOf(object) === name);
  }

  /** The webhook configuration that bears the name of an InjectorConfig's own; that of the default may lead to another one, by a tag. */
  ownWebhook(name: string): KubernetesObject | undefined {
    const own = this.mutatingWebhooks.get(objectNames(name).webhookConfiguration);
    return own && (injectorConfigOf(own) ?? name) === name ? own : undefined;
  }

  /**
   * The webhook configurations that send admissions to an InjectorConfig: its own, which its name tells also without labels, then those that bear
   * its label, as tags of its revision do. Not the twins by which a path is tried out.
   */
  webhooksOf(name: string): KubernetesObject[] {
    const own = this.ownWebhook(name);
    const others = this.mutatingWebhooks
      .list()
      .filter((object) => injectorConfigOf(object) === name && this.isOurs(object))
      .filter(({ metadata }) => metadata.name !== own?.metadata.name && !isPathProbeName(metadata.name ?? ''));
    return [...(own === undefined ? [] : [own]), ...others];
  }

  /** Those, and the tags' that send some of their admissions to an InjectorConfig, as the canary of a rollout. */
  webhooksNaming(name: string): KubernetesObject[] {
    return [...this.webhooksOf(name), ...this.rolloutsTo(name)];
  }

  /** The webhook configurations of tags that are on their way to an InjectorConfig by a rollout. */
  rolloutsTo(name: string): KubernetesObject[] {
    return this.mutatingWebhooks
      .list()
      .filter((object) => rolloutInForce(object)?.canary.injectorConfig === name && this.isOurs(object));
  }

  /** The webhook configuration under the name of a tag's; for `default` it may be InjectorConfig `default`'s own. */
  tagWebhook(tag: string): KubernetesObject | undefined {
    return this.mutatingWebhooks.get(tagWebhookConfiguration(tag));
  }

  /**
   * metadata.name of the InjectorConfig to which a tag leads, by its webhook; for `default` also by InjectorConfig `default`'s own, whose place the
   * tag takes. When somebody has deleted that or taken its labels off, where the tag led when its status was written.
   */
  targetOf(tag: string): string | undefined {
    const webhook = this.tagWebhook(tag);
    return (webhook && injectorConfigOf(webhook)) ?? statedTarget(this.tags.get(tag));
  }

  /** The operator class that has written the webhook configuration of this name, if it is not ours: two of them would take it from each other for ever. */
  otherClassAt(webhookConfiguration: string): string | undefined {
    const { labels } = this.mutatingWebhooks.get(webhookConfiguration)?.metadata ?? {};
    const operatorClass = labels?.[labelNames.operatorClass];
    return labels?.[labelNames.managedBy] === managedBy && operatorClass !== this.#operatorClass
      ? operatorClass
      : undefined;
  }

  /** The tags that have a webhook configuration, also those that are gone. */
  tagNames(): string[] {
    return this.mutatingWebhooks.list().flatMap((object) => (this.isOurs(object) ? (tagOf(object) ?? []) : []));
  }

  /** What an InjectorConfig has under fixed names, as keys: so it is found also when somebody took its labels off. The webhook comes first. */
  namedAfter(name: string): ObjectKey[] {
    const { webhookConfiguration, configMap, service, authoritySecret, servingSecret } = objectNames(name);
    const named: [ResourceKind, string][] = [
      [mutatingWebhooks, webhookConfiguration],
      [configMaps, configMap],
      [services, service],
      [secrets, authoritySecret],
      [secrets, servingSecret],
    ];
    return named.map(([resource, object]) => ({
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      metadata: { name: object, ...(resource.namespaced && { namespace: this.#namespace }) },
    }));
  }

  /**
   * Whether an object that bears the name of one of an InjectorConfig's is that one: it does not say that it belongs to another InjectorConfig or
   * operator class; and a webhook configuration calls our Service (another installation has one of its own), anything else we have written
   * (metadata.managedFields).
   */
  isOwnedByName(object: KubernetesObject, name: string, fieldManager: string): boolean {
    const labels = object.metadata.labels ?? {};
    const says = (label: string, ours: string): boolean => labels[label] === undefined || labels[label] === ours;
    if (!says(labelNames.injectorConfig, name) || !says(labelNames.operatorClass, this.#operatorClass)) return false;
    if (object.kind !== mutatingWebhooks.kind) {
      const entries = (object.metadata.managedFields ?? []) as { manager?: string }[];
      return entries.some(({ manager }) => manager === fieldManager);
    }
    const { service } = objectNames(name);
    return webhooksOf(object).some(({ clientConfig }) => {
      return clientConfig?.service?.name === service && clientConfig.service.namespace === this.#namespace;
    });
  }

  /** The InjectorConfigs that own anything, also those that are gone. */
  names(): string[] {
    return [...new Set(this.#ours().flatMap((object) => injectorConfigOf(object) ?? []))];
  }

  #stores(): ObjectStore[] {
    return [this.configs, this.tags, ...this.owned().map(({ store }) => store)];
  }

  /** True once every collection has been listed. */
  get hasSynced(): boolean {
    return this.#stores().every((store) => store.hasSynced);
  }

  /** Waits until every collection has been listed once and what else is waited for has come, or the signal aborts. */
  async synced(signal: AbortSignal, ...others: Promise<void>[]): Promise<void> {
    const synced = Promise.all([...others, ...this.#stores().map((store) => store.synced())]);
    const aborted = signal.aborted ? undefined : once(signal, 'abort');
    await Promise.race([synced, aborted]);
  }

  /** Whether operators of our class have written it, as its labels say. */
  isOurs(object: KubernetesObject): boolean {
    const labels = object.metadata.labels ?? {};
    return labels[labelNames.managedBy] === managedBy && labels[labelNames.operatorClass] === this.#operatorClass;
  }
}

/** Selects what operators of this class have written. */
export function ownedSelector(operatorClass: string): string {
  return `${labelNames.managedBy}=${managedBy},${labelNames.operatorClass}=${operatorClass}`;
}

/** The InjectorConfig that an object of ours belongs to, by its label. */
export function injectorConfigOf(object: KubernetesObject): string | undefined {
  return object.metadata.labels?.[labelNames.injectorConfig];
}

const tagPrefix = tagWebhookConfiguration('');

/** The RevisionTag that a webhook configuration of ours is written for, by its label; by its name where somebody has taken that off. */
export function tagOf({ metadata }: KubernetesObject): string | undefined {
  const { name = '', labels = {} } = metadata;
  return labels[labelNames.tag] ?? (name.startsWith(tagPrefix) ? name.slice(tagPrefix.length) : undefined);
}

/** metadata.name of the InjectorConfig to which a RevisionTag leads, as its status says. */
export function statedTarget(tag: KubernetesObject | undefined): string | undefined {
  const { injectorConfig } = (tag?.status ?? {}) as { injectorConfig?: unknown };
  return typeof injectorConfig === 'string' ? injectorConfig : undefined;
}
