/** Names of everything that belongs to an InjectorConfig. `name` is its metadata.name, `hash` the 8 hex digits of its configuration. */
export interface ObjectNames {
  /** Secret with the keys of the authority and the phases of the rotation; for the controller only. */
  readonly authoritySecret: string;
  /** Secret of type kubernetes.io/tls that replicas serve. */
  readonly servingSecret: string;
  readonly service: string;
  /** The ConfigMap for people and the command line. */
  readonly configMap: string;
  readonly webhookConfiguration: string;
}

const prefix = 'sidecar-injector';

export function objectNames(name: string): ObjectNames {
  const base = `${prefix}-${name}`;
  return {
    authoritySecret: base,
    servingSecret: `${base}-serving`,
    service: base,
    configMap: base,
    webhookConfiguration: base,
  };
}

/** The immutable ConfigMap of one configuration. */
export function hashedConfigMapName(name: string, hash: string): string {
  return `${prefix}-${name}-${hash}`;
}

/** The webhook configuration of everything that means default, whoever it belongs to: the tag of this name, else the InjectorConfig. */
const defaultWebhookConfiguration = objectNames('default').webhookConfiguration;

/** The MutatingWebhookConfiguration of a RevisionTag. InjectorConfigs cannot be called so: their names do not begin with `tag-`. */
export function tagWebhookConfiguration(tag: string): string {
  return tag === 'default' ? defaultWebhookConfiguration : `${prefix}-tag-${tag}`;
}

/** By what the twin of a tag's webhook is called; see `pathProbeName`. */
export function tagProbeSubject(tag: string): string {
  return `tag-${tag}`;
}

/**
 * The RBAC Role that lets replicas read the serving Secrets, each by its name. The chart binds it, and knows its name by the same rule.
 */
export function servingRoleName(operatorClass: string): string {
  return operatorClass === 'default' ? `${prefix}-serving` : `${prefix}-serving-${operatorClass}`;
}

/** The Lease by which the process of this identity reports what it serves; the chart's admission policy knows this rule. */
export function replicaLeaseName(identity: string): string {
  return `injector-replica-${identity}`;
}

/** Path of the validating webhook. */
export const validatePath = '/validate';

/** Names of the validating webhook's objects, one set per operator class. */
export interface ValidatorNames {
  readonly webhookConfiguration: string;
  readonly service: string;
  readonly authoritySecret: string;
  readonly servingSecret: string;
}

export function validatorNames(operatorClass: string): ValidatorNames {
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
