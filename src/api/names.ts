import { createHash } from 'node:crypto';
import { ownName } from './own-names.ts';
import type { KubernetesObject } from './kubernetes/kubernetes.ts';

const prefix = 'sidecar-injector';

/** Returns the names of all objects of the InjectorConfig `name`. */
export function objectNames(name: string) {
  const base = `${prefix}-${name}`;
  return {
    /** The Secret with the authority's keys and the rotation state, for the controller only. */
    authoritySecret: base,
    /** The Secret of type kubernetes.io/tls with the serving certificate. */
    servingSecret: `${base}-serving`,
    service: base,
    /** The ConfigMap that users and the command line read. */
    configMap: base,
    webhookConfiguration: base,
    /** For provider CertificateSigningRequest: the Secret with a signer's request and result. */
    requestSecret: `injector-request-${name}`,
    /** For provider CertManager: the Certificate, and the Secret that cert-manager writes. */
    certificate: `injector-certificate-${name}`,
  };
}

/** Matches the names of Secrets that the operator writes; a CEL rule uses the same pattern. */
export const ownSecretName = /^(sidecar-injector|injector-validator|injector-request|injector-certificate)-/;

/** Returns the name of a CertificateSigningRequest. @param digest the digest of its public key */
export function signingRequestName(name: string, digest: string): string {
  return `${prefix}-${name}-${digest}`;
}

/** Returns the name of the immutable ConfigMap of a configuration. @param hash 8 hex digits */
export function hashedConfigMapName(name: string, hash: string): string {
  return `${prefix}-${name}-${hash}`;
}

/**
 * Returns the name of a tag's MutatingWebhookConfiguration. No name of an InjectorConfig begins
 * with `tag-`. Tag `default` and InjectorConfig `default` share one webhook; the tag has
 * precedence.
 */
export function tagWebhookConfiguration(tag: string): string {
  return objectNames(tag === 'default' ? tag : `tag-${tag}`).webhookConfiguration;
}

/** Returns the subject of a tag's probe webhook, the argument of {@link pathProbeName}. */
export function tagProbeSubject(tag: string): string {
  return `tag-${tag}`;
}

/** Returns the Role with which replicas read serving Secrets by name; the chart binds this name. */
export function servingRoleName(operatorClass: string): string {
  return operatorClass === 'default' ? `${prefix}-serving` : `${prefix}-serving-${operatorClass}`;
}

export function leaderLeaseName(operatorClass: string): string {
  return `injector-leader-${operatorClass}`;
}

/** Returns the Lease in which a replica reports its state. The chart relies on this name. */
export function replicaLeaseName(identity: string): string {
  return `injector-replica-${identity}`;
}

export const validatePath = '/validate';

/** Returns the names of the validating webhook's objects; each operator class has its own. */
export function validatorNames(operatorClass: string) {
  const base = `injector-validator-${operatorClass}`;
  return {
    webhookConfiguration: `${prefix}-${operatorClass}-validator`,
    service: base,
    authoritySecret: base,
    servingSecret: `${base}-serving`,
  };
}

/** Returns the host by which the API server calls a Service. The certificate contains the host. */
export function serviceHostName(service: string, namespace: string): string {
  return `${service}.${namespace}.svc`;
}

/**
 * Labels of objects that the operator writes. Avoid `istio.io/rev` and `app: sidecar-injector`:
 * istiod rewrites the caBundle of every webhook configuration with that app and istiod's revision.
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

export const managedBy = 'sidecar-injector';

/** The annotation of an injected pod with the configuration that injected it, `<name>.<hash8>`. */
export const injectedByAnnotation = ownName('config');

/** The annotation with what the pod of a file had before `inject`: a JSON merge patch. */
export const originalAnnotation = ownName('original');

/** The annotation of an object that `injector adopt` changed, with what the object had before. */
export const adoptionAnnotation = ownName('adoption');

/** The annotation of a stored configuration with the mode that replaces `nativeSidecars: Auto`. */
export const nativeSidecarsAnnotation = ownName('native-sidecars');

/** The annotations of a replica's Lease; all values are JSON, except `version` and `draining`. */
export const replicaAnnotations = {
  serves: ownName('serves'),
  version: ownName('version'),
  draining: ownName('draining'),
  shadow: ownName('shadow'),
  failures: ownName('failures'),
  pathFormats: ownName('path-formats'),
  holdsPods: ownName('holds-pods'),
} as const;

/** The label of a pod that pulls an image on a node before a sidecar is updated there. */
export const prepullLabel = ownName('prepull');

/** The annotation of a held pod that the operator has separated from its Job; the Job's uid. */
export const replacingAnnotation = ownName('replacing');

/** The prefix of the scheduling gates of failurePolicy Hold (Pod field spec.schedulingGates). */
export const gatePrefix = 'hold.sidecar-injector.io/';

/** The maximum length of the part of a qualified name after the slash. */
const longestGate = 63;

/**
 * Returns the scheduling gate of the pods that a MutatingWebhookConfiguration of ours selects. The
 * name of a tag may be too long for a gate; a digest then replaces its end.
 */
export function gateOf(webhookConfiguration: string): string {
  if (webhookConfiguration.length <= longestGate) return `${gatePrefix}${webhookConfiguration}`;
  const digest = createHash('sha256').update(webhookConfiguration).digest('hex').slice(0, 8);
  return `${gatePrefix}${webhookConfiguration.slice(0, longestGate - 9)}-${digest}`;
}

/** The finalizer of InjectorConfigs. The operator removes webhooks before their other objects. */
export const finalizer = ownName('cleanup');

/** The annotation that, if `"true"`, allows deletion of an InjectorConfig or RevisionTag in use. */
export const forceDeleteAnnotation = ownName('force-delete');

/** Reports whether the user has allowed the deletion of an object that is in use. */
export function isDeletionForced({ metadata }: Pick<KubernetesObject, 'metadata'>): boolean {
  return metadata.annotations?.[forceDeleteAnnotation] === 'true';
}

/**
 * The keys in the ConfigMap of a reachability check. The controller dry-runs its creation with a
 * nonce. The probe webhook selects only this ConfigMap, and the replica adds the other keys.
 */
export const pathProbeKeys = {
  nonce: 'nonce',
  /** The nonce, returned by the replica. */
  answer: 'answer',
  replica: 'replica',
  /** The configuration hash in the path of the call. */
  configuration: 'configuration',
} as const;

const probePrefix = 'sidecar-injector-probe-';

/** Returns the name of a probe webhook and its ConfigMap. @param name an InjectorConfig or tag-T */
export function pathProbeName(name: string): string {
  return `${probePrefix}${name}`;
}

/** Reports whether a webhook is a probe webhook. No InjectorConfig can have such a name. */
export function isPathProbeName(name: string): boolean {
  return name.startsWith(probePrefix);
}
