import { ownName } from './own-names.ts';
import type { KubernetesObject } from './kubernetes/kubernetes.ts';

const prefix = 'sidecar-injector';

/** Names of everything that belongs to an InjectorConfig. @param name its metadata.name */
export function objectNames(name: string) {
  const base = `${prefix}-${name}`;
  return {
    /** Secret with the keys of the authority and the phases of the rotation; for the controller only. */
    authoritySecret: base,
    /** Secret of type kubernetes.io/tls that replicas serve. */
    servingSecret: `${base}-serving`,
    service: base,
    /** The ConfigMap for people and the command line. */
    configMap: base,
    webhookConfiguration: base,
    /** Secret with what is asked of a signer, and its answer; with certificate provider CertificateSigningRequest. */
    requestSecret: `injector-request-${name}`,
    /** cert-manager's Certificate, and the Secret that it writes; with certificate provider CertManager and an `issuerRef`. */
    certificate: `injector-certificate-${name}`,
  };
}

/** Matches the names of Secrets that the operator writes or has written; CEL knows it too. */
export const ownSecretName = /^(sidecar-injector|injector-validator|injector-request|injector-certificate)-/;

/** The CertificateSigningRequest of an InjectorConfig. @param digest of its public key */
export function signingRequestName(name: string, digest: string): string {
  return `${prefix}-${name}-${digest}`;
}

/** The immutable ConfigMap of one configuration. @param hash the 8 hex digits of the configuration */
export function hashedConfigMapName(name: string, hash: string): string {
  return `${prefix}-${name}-${hash}`;
}

/**
 * The MutatingWebhookConfiguration of a RevisionTag. InjectorConfigs cannot be called so: their names do not begin with `tag-`. What means default
 * has one, whoever it belongs to: the tag of this name, else the InjectorConfig.
 */
export function tagWebhookConfiguration(tag: string): string {
  return objectNames(tag === 'default' ? tag : `tag-${tag}`).webhookConfiguration;
}

/** By what the twin of a tag's webhook is called; see `pathProbeName`. */
export function tagProbeSubject(tag: string): string {
  return `tag-${tag}`;
}

/** The RBAC Role that lets replicas read the serving Secrets, each by its name. The chart binds it, and knows its name by the same rule. */
export function servingRoleName(operatorClass: string): string {
  return operatorClass === 'default' ? `${prefix}-serving` : `${prefix}-serving-${operatorClass}`;
}

/** The Lease of whoever leads an operator class, in its own namespace. */
export function leaderLeaseName(operatorClass: string): string {
  return `injector-leader-${operatorClass}`;
}

/** The Lease by which the process of this identity reports what it serves; the chart's admission policy knows this rule. */
export function replicaLeaseName(identity: string): string {
  return `injector-replica-${identity}`;
}

/** Path of the validating webhook. */
export const validatePath = '/validate';

/** Names of the validating webhook's objects, one set per operator class. */
export function validatorNames(operatorClass: string) {
  const base = `injector-validator-${operatorClass}`;
  return {
    webhookConfiguration: `${prefix}-${operatorClass}-validator`,
    service: base,
    authoritySecret: base,
    servingSecret: `${base}-serving`,
  };
}

/** The name by which the API server calls a Service, and which its certificate must carry: `<service>.<namespace>.svc`. */
export function serviceHostName(service: string, namespace: string): string {
  return `${service}.${namespace}.svc`;
}

/**
 * Labels of the objects we write. Never `istio.io/rev` or `app: sidecar-injector`: istiod rewrites the caBundle of every webhook
 * configuration that carries its own revision there.
 */
export const labelNames = {
  revision: ownName('revision'),
  injectorConfig: ownName('injector-config'),
  tag: ownName('tag'),
  operatorClass: ownName('operator-class'),
  configurationHash: ownName('configuration-hash'),
  replica: ownName('replica'),
  managedBy: 'app.kubernetes.io/managed-by',
} as const;

/** Value of {@link labelNames.managedBy}. */
export const managedBy = 'sidecar-injector';

/** Annotation of an injected pod: `N.<hash8>`, the InjectorConfig and the configuration that injected it. */
export const injectedByAnnotation = ownName('config');

/** Annotations of a replica's Lease; JSON but for `version` and `draining`. */
export const replicaAnnotations = {
  serves: ownName('serves'),
  version: ownName('version'),
  draining: ownName('draining'),
  shadow: ownName('shadow'),
  failures: ownName('failures'),
  pathFormats: ownName('path-formats'),
} as const;

/** The finalizer with which the operator removes webhooks before anything that serves them. */
export const finalizer = ownName('cleanup');

/** Annotation with which an InjectorConfig or RevisionTag may be deleted although it is in use: `"true"`. */
export const forceDeleteAnnotation = ownName('force-delete');

/** Whether somebody has said that it may be deleted whoever uses it. */
export function isDeletionForced({ metadata }: Pick<KubernetesObject, 'metadata'>): boolean {
  return metadata.annotations?.[forceDeleteAnnotation] === 'true';
}

/**
 * How a webhook is tried out before it may stop a pod: a twin of its configuration, which takes one ConfigMap and only by dry run, and a ConfigMap of
 * the same name that carries a nonce. Whoever serves the webhook answers by putting more keys into it.
 */
export const pathProbeKeys = {
  /** What is asked. */
  nonce: 'nonce',
  /** The nonce, given back. */
  answer: 'answer',
  /** Which replica answered. */
  replica: 'replica',
  /** The hash in the path by which it was called. */
  configuration: 'configuration',
} as const;

const probePrefix = 'sidecar-injector-probe-';

/** The name of the twin configuration of InjectorConfig `name`, or of `tag-T` for RevisionTag T, and of the ConfigMap. */
export function pathProbeName(name: string): string {
  return `${probePrefix}${name}`;
}

/** Whether a webhook configuration is such a twin: InjectorConfigs cannot be called so. */
export function isPathProbeName(name: string): boolean {
  return name.startsWith(probePrefix);
}
