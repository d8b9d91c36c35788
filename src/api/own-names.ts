import { group } from './injector-config/injector-config.ts';

/** The labels, annotations and finalizer of our group, for docs/reference/labels-and-annotations.md. */
export const ownNames = {
  action:
    'annotation of a RevisionTag: request of `injector tag promote`, `abort`, `resume` or `retry`, as `<verb>:<nonce>`',
  cleanup: 'finalizer of an InjectorConfig: the operator removes its webhooks first, then the objects that they need',
  config:
    'annotation of an injected pod: the configurations that injected it, as `<InjectorConfig>.<hash>`, separated by commas',
  'configuration-hash': 'label of a ConfigMap: the hash of the configuration that the ConfigMap contains',
  draining: "annotation of a replica's Lease: `true` while the replica is shutting down",
  failures: "annotation of a replica's Lease: the configurations that recently failed to inject pods",
  'force-delete':
    'annotation of an InjectorConfig or RevisionTag: with value `"true"` the object can be deleted while it is in use',
  'injector-config': 'label of an object that the operator writes: the InjectorConfig of the object',
  'operator-class': 'label of an object that the operator writes: the operator class that manages the object',
  'path-formats':
    "annotation of a replica's Lease: the formats of webhook paths that the replica supports, separated by commas",
  replica: "label of a replica's Lease: the operator class of the replica",
  restart:
    'annotation of a Deployment, StatefulSet or DaemonSet: with value `"false"` the operator never restarts the workload',
  restarted:
    'annotation of a pod template: the latest restarts of the workload, each with its tag, its target configuration and its time',
  revision:
    'label of an object that the operator writes: the revision of its injector, or the stable revision of its tag',
  rotate: 'annotation of an InjectorConfig: request of `injector certs rotate`, as `<target>:<nonce>`',
  serves: "annotation of a replica's Lease: the configurations and certificates that the replica serves",
  shadow: "annotation of a replica's Lease: the results of comparing the stable and canary configurations of rollouts",
  tag: 'label of a MutatingWebhookConfiguration: the RevisionTag of the webhook',
  version: "annotation of a replica's Lease: the version of the program",
} as const;

/** Returns the full name. The type admits only names that {@link ownNames} documents. */
export function ownName<Name extends keyof typeof ownNames>(name: Name) {
  return `${group}/${name}` as const;
}
