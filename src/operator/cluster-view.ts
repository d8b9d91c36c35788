import { isDeepStrictEqual } from 'node:util';
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
import { ObjectStore, type StoreChange } from '../kube/object-store.ts';
import type { ObjectKey } from '../kube/api-client.ts';
import type { NodeFacts } from '../inject/injection-request.ts';
import type { ReflectorOptions } from '../kube/reflector.ts';
import { apiVersionOf, resourceKind, type ResourceKind } from '../kube/resource-kinds.ts';
import { liveRollout, webhooksOf } from './webhooks/published-webhook.ts';

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

/** A collection that the controller watches, and the store that caches it. */
type Followed = Pick<
  ReflectorOptions<KubernetesObject>,
  'resource' | 'store' | 'namespace' | 'labelSelector' | 'fieldSelector'
>;

/** The controller's cache of the cluster. Watches fill it; this class sends no requests. */
export class ClusterView {
  readonly configs = new ObjectStore();
  readonly tags = new ObjectStore();
  readonly configMaps = new ObjectStore();
  readonly secrets = new ObjectStore();
  readonly services = new ObjectStore();
  /** All webhook configurations, since any of them may be the owner of ours or overlap ours. */
  readonly mutatingWebhooks = new ObjectStore();
  readonly validatingWebhooks = new ObjectStore();
  readonly roles = new ObjectStore();
  /** The MutatingAdmissionPolicies of failurePolicy Hold and their bindings; see `holding`. */
  readonly policies = new ObjectStore();
  readonly policyBindings = new ObjectStore();
  /** The kubelet versions of the nodes. */
  readonly nodes = new ObjectStore();
  readonly #namespace: string;
  readonly #operatorClass: string;

  constructor(namespace: string, operatorClass: string) {
    this.#namespace = namespace;
    this.#operatorClass = operatorClass;
  }

  /** Returns the collections to watch, besides InjectorConfigs and RevisionTags. */
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

  kubelets(): NodeFacts[] {
    return this.nodes.list().map(kubeletFacts);
  }

  /** Returns the store for a kind of owned object. @throws Error for any other kind */
  storeOf(kind: string): ObjectStore {
    if (kind === 'MutatingAdmissionPolicy') return this.policies;
    if (kind === 'MutatingAdmissionPolicyBinding') return this.policyBindings;
    const followed = this.owned().find(({ resource }) => resource.kind === kind);
    if (followed === undefined) throw new Error(`no store follows ${kind}`);
    return followed.store;
  }

  /** Returns the cached object with the kind, namespace and name of `like`. */
  live(like: Pick<ObjectKey, 'kind' | 'metadata'>): KubernetesObject | undefined {
    return this.storeOf(like.kind).get(like.metadata.name ?? '', like.metadata.namespace);
  }

  /** Returns all objects that carry our labels. */
  #ours(): KubernetesObject[] {
    const stores = [
      ...[this.mutatingWebhooks, this.policyBindings, this.policies],
      ...[this.configMaps, this.services, this.secrets],
    ];
    return stores.flatMap((store) => store.list().filter((object) => this.isOurs(object)));
  }

  /** Returns the objects that carry the label of this InjectorConfig. */
  belongingTo(name: string): KubernetesObject[] {
    return this.#ours().filter((object) => injectorConfigOf(object) === name);
  }

  /** Returns the InjectorConfig's own webhook configuration; undefined if a tag took the name. */
  ownWebhook(name: string): KubernetesObject | undefined {
    const own = this.mutatingWebhooks.get(objectNames(name).webhookConfiguration);
    return own && (injectorConfigOf(own) ?? name) === name ? own : undefined;
  }

  /**
   * Returns the webhook configurations that send admissions to an InjectorConfig: first its own,
   * found by name even if the labels are lost, then those of tags. Omits probe webhooks.
   */
  webhooksOf(name: string): KubernetesObject[] {
    const own = this.ownWebhook(name);
    const ofTags = this.mutatingWebhooks
      .list()
      .filter((object) => injectorConfigOf(object) === name && this.isOurs(object))
      .filter(({ metadata }) => metadata.name !== own?.metadata.name && !isPathProbeName(metadata.name ?? ''));
    return [...(own === undefined ? [] : [own]), ...ofTags];
  }

  /** Returns the results of {@link webhooksOf} and {@link rolloutsTo}. */
  webhooksNaming(name: string): KubernetesObject[] {
    return [...this.webhooksOf(name), ...this.rolloutsTo(name)];
  }

  /** Returns the webhook configurations of tags whose rollout has the InjectorConfig as canary. */
  rolloutsTo(name: string): KubernetesObject[] {
    return this.mutatingWebhooks
      .list()
      .filter((object) => liveRollout(object)?.canary.injectorConfig === name && this.isOurs(object));
  }

  /** Returns the webhook configuration of a tag. An InjectorConfig may own that of `default`. */
  tagWebhook(tag: string): KubernetesObject | undefined {
    return this.mutatingWebhooks.get(tagWebhookConfiguration(tag));
  }

  /**
   * Returns metadata.name of the InjectorConfig to which the webhook of a tag points. Falls back to
   * the status of the tag when the webhook is missing or has lost its labels.
   */
  targetOf(tag: string): string | undefined {
    const webhook = this.tagWebhook(tag);
    return (webhook && injectorConfigOf(webhook)) ?? statedTarget(this.tags.get(tag));
  }

  /** Returns the operator class that owns a webhook configuration; undefined for our own class. */
  otherClassAt(webhookConfiguration: string): string | undefined {
    const { labels } = this.mutatingWebhooks.get(webhookConfiguration)?.metadata ?? {};
    const operatorClass = labels?.[labelNames.operatorClass];
    return labels?.[labelNames.managedBy] === managedBy && operatorClass !== this.#operatorClass
      ? operatorClass
      : undefined;
  }

  /** Returns the tags that have a webhook configuration, including deleted tags. */
  tagNames(): string[] {
    return this.mutatingWebhooks.list().flatMap((object) => (this.isOurs(object) ? (tagOf(object) ?? []) : []));
  }

  /** Returns the keys of an InjectorConfig's objects that have fixed names, first the webhook. */
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
   * Reports whether an object with one of the InjectorConfig's fixed names is ours. Its labels must
   * not name another InjectorConfig or operator class. A webhook configuration must also call our
   * Service, and an object of another kind must have `fieldManager` in its managedFields.
   */
  isOwnedByName(object: KubernetesObject, name: string, fieldManager: string): boolean {
    const labels = object.metadata.labels ?? {};
    const fits = (label: string, ours: string): boolean => labels[label] === undefined || labels[label] === ours;
    if (!fits(labelNames.injectorConfig, name) || !fits(labelNames.operatorClass, this.#operatorClass)) return false;
    if (object.kind !== mutatingWebhooks.kind) {
      const entries = (object.metadata.managedFields ?? []) as { manager?: string }[];
      return entries.some(({ manager }) => manager === fieldManager);
    }
    const { service } = objectNames(name);
    return webhooksOf(object).some(({ clientConfig }) => {
      return clientConfig?.service?.name === service && clientConfig.service.namespace === this.#namespace;
    });
  }

  /** Returns the InjectorConfigs that own objects, including deleted InjectorConfigs. */
  names(): string[] {
    return [...new Set(this.#ours().flatMap((object) => injectorConfigOf(object) ?? []))];
  }

  #stores(): ObjectStore[] {
    return [this.configs, this.tags, this.nodes, ...this.owned().map(({ store }) => store)];
  }

  /** Whether every collection has been listed once. */
  get hasSynced(): boolean {
    return this.#stores().every((store) => store.hasSynced);
  }

  /** Waits until every collection is listed and `others` resolve, or until the signal aborts. */
  async synced(signal: AbortSignal, ...others: Promise<void>[]): Promise<void> {
    const synced = Promise.all([...others, ...this.#stores().map((store) => store.synced())]);
    const aborted = signal.aborted ? undefined : once(signal, 'abort');
    await Promise.race([synced, aborted]);
  }

  /** Reports whether the labels of an object name us and our operator class. */
  isOurs(object: KubernetesObject): boolean {
    const labels = object.metadata.labels ?? {};
    return labels[labelNames.managedBy] === managedBy && labels[labelNames.operatorClass] === this.#operatorClass;
  }
}

/** Returns the label selector for the objects of an operator class. */
export function ownedSelector(operatorClass: string): string {
  return `${labelNames.managedBy}=${managedBy},${labelNames.operatorClass}=${operatorClass}`;
}

/** Returns the InjectorConfig that the label of an object names. */
export function injectorConfigOf(object: KubernetesObject): string | undefined {
  return object.metadata.labels?.[labelNames.injectorConfig];
}

const tagPrefix = tagWebhookConfiguration('');

/** Returns the RevisionTag of our webhook configuration, from its label or else from its name. */
export function tagOf({ metadata }: KubernetesObject): string | undefined {
  const { name = '', labels = {} } = metadata;
  return labels[labelNames.tag] ?? (name.startsWith(tagPrefix) ? name.slice(tagPrefix.length) : undefined);
}

/** Returns metadata.name of the InjectorConfig to which a RevisionTag points, from its status. */
export function statedTarget(tag: KubernetesObject | undefined): string | undefined {
  const { injectorConfig } = (tag?.status ?? {}) as { injectorConfig?: unknown };
  return typeof injectorConfig === 'string' ? injectorConfig : undefined;
}

/** Returns the fields of a Node that injection reads. */
export function kubeletFacts({ metadata, status }: KubernetesObject): NodeFacts {
  const { nodeInfo } = (status ?? {}) as { nodeInfo?: { kubeletVersion?: string } };
  return { name: metadata.name ?? '', kubeletVersion: nodeInfo?.kubeletVersion ?? '' };
}

/** Reports whether a change of a Node is more than a heartbeat. */
export function changesKubelets({ type, object, before }: StoreChange<KubernetesObject>): boolean {
  return type === 'Deleted' || before === undefined || !isDeepStrictEqual(kubeletFacts(before), kubeletFacts(object));
}

/** Drops all other fields of a Node, which is large and changes with every heartbeat. */
export function onlyKubeletFacts(node: KubernetesObject): KubernetesObject {
  const { name = '', resourceVersion = '' } = node.metadata;
  const { kubeletVersion } = kubeletFacts(node);
  const { apiVersion, kind } = node;
  return { apiVersion, kind, metadata: { name, resourceVersion }, status: { nodeInfo: { kubeletVersion } } };
}
