import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { injectorConfig, type InjectorConfigObject, smallConfig } from '../../harness/injector-configs.ts';
import { workload, type WorkloadKind } from '../../harness/workload-kinds.ts';
import { barePod, neverScheduled } from '../../harness/workloads.ts';

type Labels = Readonly<Record<string, string | null>>;

/** What a user does because of a remedy that is no command: an edit, as a merge patch. */
export type Edit = Readonly<Record<string, unknown>>;

/** A namespace with problems. */
export interface Place {
  /** The labels while the workloads start; then {@link after} changes them. */
  readonly before?: Readonly<Record<string, string>>;
  readonly after?: Labels;
  readonly objects?: (namespace: string) => KubernetesObject[];
  /** Whether the API server refuses the pods of the objects, which come last. */
  readonly isRefused?: boolean;
  /** `Kind/name Reason` of each finding; a name that is generated is `*`. */
  readonly found: readonly string[];
}

/** A problem of an InjectorConfig: it is applied, then spoilt. */
export interface Configured {
  readonly config: InjectorConfigObject;
  readonly spoilt?: Edit;
  readonly found: readonly string[];
  /** The edit that the text asks for. */
  readonly cure?: Edit;
}

const rev = (value: string) => ({ 'istio.io/rev': value });
const asks = { 'sidecar.istio.io/inject': 'true' };
const unsafe = { 'inject.istio.io/templates': 'none' };
/** Makes a pod too large for the operator's trials, whose doubts would be one more finding. */
const large = { padding: '.'.repeat(66_000) };
const made =
  (kind: WorkloadKind, options: Parameters<typeof workload>[3] = {}) =>
  (namespace: string): KubernetesObject[] => [workload(kind, namespace, 'web', options)];
const late = { after: rev('mesh-1') };
const paused = (namespace: string) =>
  made('Deployment')(namespace).map((each) => ({ ...each, spec: { ...(each['spec'] as object), paused: false } }));

function ofTemplate(apiVersion: string, kind: string, more: Record<string, unknown> = {}) {
  return (namespace: string): KubernetesObject[] => {
    const { spec, metadata } = barePod(namespace, 'web', more);
    const template = { metadata: { labels: metadata.labels }, spec };
    const selector = kind === 'ReplicaSet' ? { matchLabels: { app: 'web' } } : { app: 'web' };
    const own = kind === 'Job' ? {} : { replicas: 2, selector };
    return [{ apiVersion, kind, metadata: { name: 'web', namespace }, spec: { ...own, template } }];
  };
}

/** The places, by the suffix of the namespace. */
export const places: Readonly<Record<string, Place>> = {
  'near-value': { after: { 'istio-injection': 'enable' }, found: ['Namespace/near-value NearMissValue'] },
  'near-name': { after: { 'istio-inject': 'enabled' }, found: ['Namespace/near-name NearMissName'] },
  mistyped: { after: rev('mesh1'), found: ['Namespace/mistyped UnknownRevision'] },
  nothing: { after: rev('another'), found: ['Namespace/nothing UnknownRevision'] },
  'pod-label': { objects: made('Deployment', { labels: rev('mesh1') }), found: ['Deployment/web UnknownRevision'] },
  'pod-value': {
    objects: made('StatefulSet', {
      labels: { ...asks, 'sidecar.istio.io/inject': 'yes' },
      update: { type: 'OnDelete' },
    }),
    found: ['StatefulSet/web NearMissValue'],
  },
  misplaced: {
    objects: (namespace) =>
      made('Deployment')(namespace).map((each) => ({ ...each, metadata: { ...each.metadata, labels: rev('mesh-1') } })),
    found: ['Deployment/web MisplacedLabel'],
  },
  'pod-alone': {
    objects: (namespace) => [barePod(namespace, 'web', { labels: rev('mesh1') })],
    found: ['Pod/web UnknownRevision'],
  },
  'in-pause': { after: rev('paused'), found: ['Namespace/in-pause Paused'] },
  unreached: { after: rev('unreached'), found: ['Namespace/unreached NotPublished'] },
  twice: { after: rev('twice'), found: ['Namespace/twice ForeignWebhook'] },
  late: { ...late, objects: made('Deployment'), found: ['Deployment/web Missing'] },
  'late-set': { ...late, objects: made('StatefulSet', { replicas: 2 }), found: ['StatefulSet/web Missing'] },
  'late-daemon': { ...late, objects: made('DaemonSet'), found: ['DaemonSet/web Missing'] },
  'on-delete': {
    ...late,
    objects: made('DaemonSet', { update: { type: 'OnDelete' } }),
    found: ['DaemonSet/web Missing'],
  },
  partition: {
    ...late,
    objects: made('StatefulSet', { replicas: 3, update: { rollingUpdate: { partition: 2 } } }),
    found: ['StatefulSet/web Missing'],
  },
  'rollout-paused': { ...late, objects: paused, found: ['Deployment/web Missing'] },
  alone: { ...late, objects: (namespace) => [barePod(namespace, 'web')], found: ['Pod/web Missing'] },
  'replica-set': { ...late, objects: ofTemplate('apps/v1', 'ReplicaSet'), found: ['ReplicaSet/web Missing'] },
  controller: {
    ...late,
    objects: ofTemplate('v1', 'ReplicationController'),
    found: ['ReplicationController/web Missing'],
  },
  job: {
    ...late,
    objects: ofTemplate('batch/v1', 'Job', { spec: { ...neverScheduled, restartPolicy: 'Never' } }),
    found: ['Job/web Missing'],
  },
  moved: { before: rev('mesh-2'), after: rev('mesh-1'), objects: made('Deployment'), found: ['Deployment/web Stale'] },
  'moved-alone': {
    before: rev('mesh-2'),
    after: rev('mesh-1'),
    objects: (namespace) => [barePod(namespace, 'web')],
    found: ['Pod/web Stale'],
  },
  orphan: {
    before: rev('gone'),
    objects: made('Deployment'),
    found: ['Deployment/web Stale', 'Namespace/orphan UnknownRevision'],
  },
  unlabelled: {
    before: rev('mesh-1'),
    after: { 'istio.io/rev': null },
    objects: made('Deployment'),
    found: ['Deployment/web Stale'],
  },
  disabled: {
    before: { 'istio-injection': 'disabled' },
    objects: made('Deployment', { labels: asks }),
    found: ['Deployment/web NotSelected'],
  },
  unsafe: {
    ...late,
    objects: made('Deployment', { annotations: { ...unsafe, ...large } }),
    found: ['Deployment/web Missing'],
  },
  'same-name': {
    ...late,
    objects: made('Deployment', { annotations: large, spec: { containers: [{ name: 'mesh-1', image: 'evil:1' }] } }),
    found: ['Deployment/web Missing', 'Deployment/web SameName'],
  },
  refused: {
    before: rev('mesh-1'),
    isRefused: true,
    objects: made('Deployment', { annotations: unsafe }),
    found: ['ReplicaSet/* Refused'],
  },
  quota: {
    before: rev('mesh-1'),
    isRefused: true,
    objects: made('StatefulSet'),
    found: ['StatefulSet/web Refused'],
  },
};

const template = (more: string): string =>
  `spec:\n  containers:\n  - name: proxy\n    image: example.com/proxy:1\n${more}`;
const rendering = (more: string): Edit => ({ injection: { templates: { sidecar: template(more) } } });
const named = (name: string): InjectorConfigObject =>
  injectorConfig(name, rendering('') as InjectorConfigObject['spec']);
const some = '{{ if gt (len .Spec.Containers) 1 }}    volumeMounts: [{name: none, mountPath: /none}]\n{{ end }}';
const picky = [{ name: 'web', expression: "object.metadata.labels['tier'] == 'web'" }];

export const configured: readonly Configured[] = [
  { config: named('paused'), spoilt: { paused: true }, found: ['InjectorConfig/paused Paused'] },
  {
    config: smallConfig('unreached', { url: 'https://127.0.0.1:1' }),
    found: ['InjectorConfig/unreached NotPublished'],
    cure: { webhook: { url: null } },
  },
  {
    config: named('broken'),
    spoilt: rendering('{{ end }}'),
    found: ['InjectorConfig/broken ConfigurationInvalid'],
    cure: rendering(''),
  },
  {
    config: named('doubtful'),
    spoilt: rendering(some),
    found: ['InjectorConfig/doubtful Doubtful'],
    cure: rendering(''),
  },
  {
    config: smallConfig('holding', { failurePolicy: 'Hold' }),
    found: ['InjectorConfig/holding HoldDisabled'],
    cure: { webhook: { failurePolicy: 'Fail' } },
  },
  { config: smallConfig('picky', { matchConditions: picky }), found: ['InjectorConfig/picky MatchConditionFails'] },
];
