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

const prefix = 'sidecar-injector-probe-';

/** The name of the twin configuration of InjectorConfig `name`, or of `tag-T` for RevisionTag T, and of the ConfigMap. */
export function pathProbeName(name: string): string {
  return `${prefix}${name}`;
}

/** Whether a webhook configuration is such a twin: InjectorConfigs cannot be called so. */
export function isPathProbeName(name: string): boolean {
  return name.startsWith(prefix);
}
