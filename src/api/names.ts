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
  };
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
