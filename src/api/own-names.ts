import { group } from './injector-config/injector-config.ts';

/** Labels, annotations and the finalizer of our group; `make generate` writes the page of reference from it. */
export const ownNames = {
  action: 'annotation of a RevisionTag: `injector tag promote`, `abort`, `resume` or `retry`: `<verb>:<nonce>`',
  cleanup: 'finalizer of an InjectorConfig: the operator removes webhooks before anything that serves them',
  config: 'annotation of an injected pod: `<InjectorConfig>.<hash>`: what injected it, several separated by commas',
  'configuration-hash': 'label of a ConfigMap: the hash of the configuration that it holds',
  draining: "annotation of a replica's Lease: `true` once the replica is on its way out",
  failures: "annotation of a replica's Lease: which configurations could not inject pods in the last minutes",
  'force-delete': 'annotation of an InjectorConfig or RevisionTag: `"true"`: it may be deleted although it is in use',
  'injector-config': 'label of what the operator writes: the InjectorConfig that it belongs to',
  'operator-class': 'label of what the operator writes: the operator class that looks after it',
  'path-formats': "annotation of a replica's Lease: the formats of webhook paths that it can answer, with commas",
  replica: "label of a replica's Lease: the operator class of the replica",
  restart: 'annotation of a Deployment, StatefulSet or DaemonSet: `"false"`: the operator never restarts it',
  restarted: 'annotation of a pod template: for which tags, and to what, the operator has restarted the workload',
  revision: 'label of what the operator writes: the revision that it belongs to, or where the tag leads now',
  rotate: 'annotation of an InjectorConfig: `injector certs rotate`: `<what>:<nonce>`',
  serves: "annotation of a replica's Lease: the configurations and certificates that the replica serves",
  shadow: "annotation of a replica's Lease: what came of rendering pods by both configurations of a rollout",
  tag: 'label of a MutatingWebhookConfiguration: the RevisionTag that it is written for',
  version: "annotation of a replica's Lease: the version of the program",
} as const;

/** The whole name of one of them; the compiler takes none that the page lacks. */
export function ownName<Name extends keyof typeof ownNames>(name: Name) {
  return `${group}/${name}` as const;
}
