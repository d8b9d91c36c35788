import { group } from './injector-config/injector-config.ts';

/** The labels, annotations and finalizer of our group; docs/reference contains the descriptions. */
export const ownNames = {
  action:
    'annotation of a RevisionTag: a request to promote, abort, pause, resume or retry a rollout, as `<verb>:<nonce>`',
  adoption:
    'annotation of a webhook configuration of Istio, or of a namespace: what it had before `injector adopt` moved pods',
  cleanup: 'finalizer of an InjectorConfig: the operator removes its webhooks first, then the objects that they need',
  config:
    'annotation of an injected pod: comma-separated configurations that injected it, as `<InjectorConfig>.<hash>`',
  'configuration-hash': 'label of a ConfigMap: the hash of the configuration that the ConfigMap contains',
  draining: "annotation of a replica's Lease: `true` while the replica is shutting down",
  failures: "annotation of a replica's Lease: the configurations that recently failed to inject pods",
  'force-delete': 'annotation of an InjectorConfig or RevisionTag: `"true"` allows its deletion while it is in use',
  'holds-pods': "annotation of a replica's Lease: `true` if the replica removes scheduling gates of failurePolicy Hold",
  'injector-config': 'label of an object that the operator writes: the InjectorConfig of the object',
  'native-sidecars':
    'annotation of a ConfigMap with a configuration of an earlier release: the mode that replaces `nativeSidecars: Auto`',
  'operator-class': 'label of an object that the operator writes: the operator class that manages the object',
  original:
    'annotation of a pod in a file: what the pod had before `injector inject`, as a JSON merge patch (RFC 7386), and how it was written',
  'path-formats': "annotation of a replica's Lease: the comma-separated formats of webhook paths that it supports",
  prepull: 'label of a pod in the namespace of the operator that pulls an image before sidecars are updated with it',
  replacing: 'annotation of a held pod: the operator has separated the pod from its Job, and deletes the pod',
  replica: "label of a replica's Lease: the operator class of the replica",
  restart: 'annotation of a Deployment, StatefulSet or DaemonSet: `"false"` excludes the workload from restarts',
  restarted: 'annotation of a pod template: the latest restarts of the workload, each with tag, configuration and time',
  revision: 'label of an object that the operator writes: the revision of its injector, or the revision of its tag',
  rotate: 'annotation of an InjectorConfig: a request of `injector certs rotate`, as `<target>:<nonce>`',
  serves: "annotation of a replica's Lease: the configurations and certificates that the replica serves",
  shadow: "annotation of a replica's Lease: the results of comparing the stable and canary configurations of rollouts",
  tag: 'label of a MutatingWebhookConfiguration: the RevisionTag of the webhook',
  update:
    'annotation of a pod: its update in place that is under way, with what the pod had before, or why its update failed',
  updates: 'annotation of a namespace: `deny` excludes its workloads from restarts, and `allow`, the default, does not',
  version: "annotation of a replica's Lease: the version of the program",
} as const;

/** Returns the full name. The type admits only names that {@link ownNames} documents. */
export function ownName<Name extends keyof typeof ownNames>(name: Name) {
  return `${group}/${name}` as const;
}
