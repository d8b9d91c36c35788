import fc from 'fast-check';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import { gateOf, hashedConfigMapName } from '../../api/names.ts';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';
import { revisionTag } from '../../api/testdata/revision-tag.ts';
import { loadInjector } from '../../inject/injector.ts';
import { ObjectStore } from '../../kube/object-store.ts';
import { capturingLogger } from '../../kube/testdata/capturing-logger.ts';
import { ManualClock } from '../../kube/testdata/manual-clock.ts';
import { context } from '../../manifests/testdata/manifest-context.ts';
import { webhookConfiguration } from '../../manifests/webhook-configuration.ts';
import { ClusterView } from '../../operator/cluster-view.ts';
import { servedFiles } from '../../operator/configurations/last-good.ts';
import { podRecord } from '../../operator/pods/pod-record.ts';
import { TagTargets } from '../../operator/tags/tag-targets.ts';
import type { MemoryCluster } from '../../operator/testdata/memory-cluster.ts';
import { ClusterUsage } from '../../operator/usage/cluster-usage.ts';
import type { PodRecord } from '../../operator/usage/pod-group.ts';
import { everyWorkload } from '../../routing/workload-key.ts';
import { istio } from '../../selection/testdata/istio-webhook.ts';
import { operatorLeases } from './operator-leases.ts';
import type { RevisionCluster } from './revision-cluster.ts';

const logKeys = { injection: 'logs', revision: 'logs/rev', inject: 'logs/inject', status: 'logs/status' };
const keysOf: Record<string, typeof logKeys> = { '1-23': istioKeys, '1-24': istioKeys, default: istioKeys, logs: logKeys };
/** fast-check shrinks to the first value, which is the plainest. */
const oneOf = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
const label = (key: string, ...values: string[]): fc.Arbitrary<Record<string, string>> => oneOf({}, ...values.map((value) => ({ [key]: value })));
const merged = (...parts: fc.Arbitrary<Record<string, string>>[]): fc.Arbitrary<Record<string, string>> =>
  fc.tuple(...parts).map((all) => Object.assign({}, ...all) as Record<string, string>);
const named = <T extends { readonly name: string }>(each: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.uniqueArray(each, { selector: ({ name }) => name, maxLength: 3 });

const revision = fc.record({
  name: oneOf('1-24', 'logs', 'default'),
  state: oneOf('published', 'unpublished', 'paused', 'deleting'),
  windowsPods: oneOf('Inject', 'Skip'),
});
const tag = fc.record({
  name: oneOf('prod', 'default'),
  revision: oneOf('1-24', 'default', 'logs', 'gone'),
  canary: oneOf('none', '1-24', 'default'),
  threshold: oneOf('8000000000000000', everyWorkload),
  isPublished: oneOf(true, false),
});
const pod = fc.record({
  namespace: oneOf('shop', 'kube-system'),
  app: oneOf('web', 'cart'),
  /** The InjectorConfigs that injected the pod, and whether with their present configurations. */
  by: fc.uniqueArray(oneOf('1-24', '1-23', 'default', 'logs'), { maxLength: 2 }),
  isOld: oneOf(false, true),
  labels: merged(label('istio.io/rev', '1-24', 'prod'), label('sidecar.istio.io/inject', 'true', 'false'), label('logs/rev', 'logs')),
  creationTimestamp: oneOf('2026-01-01T00:00:00Z', '2026-01-03T00:00:00Z'),
  is: oneOf('running', 'held', 'ending', 'finished', 'mirror', 'windows', 'hostNetwork', 'foreign'),
});
const shopLabels = [label('istio.io/rev', '1-24', 'prod', 'none'), label('istio-injection', 'enabled', 'disabled'), label('logs', 'enabled')];
/** Clusters with revisions of two families, tags in rollouts, and pods in any state. */
export const randomClusters = fc.record({
  revisions: named(revision),
  tags: named(tag),
  namespaces: fc.record({ shop: merged(...shopLabels), 'kube-system': label('istio.io/rev', '1-24', 'prod') }),
  pods: fc.array(pod, { maxLength: 6 }),
  /** Whether Istio's injector selects namespaces with label istio-injection=enabled. */
  hasIstio: oneOf(false, true),
});
type Arbitrary<A> = A extends fc.Arbitrary<infer Value> ? Value : never;
export type RandomCluster = Arbitrary<typeof randomClusters>;

const leaving = { deletionTimestamp: '2026-01-03T00:00:00Z', finalizers: ['example.com/x'] };
const plurals = ['injectorconfigs', 'revisiontags', 'mutatingwebhookconfigurations', 'configmaps', 'namespaces', 'pods'];

/** Replaces the objects of a cluster. */
export function fillCluster(cluster: RevisionCluster, { revisions, tags, namespaces, pods, hasIstio }: RandomCluster): void {
  const { memory } = cluster;
  const each = (plural: string, change: object): void => {
    for (const { metadata } of memory.list(plural))
      memory.edit(plural, metadata.name ?? '', metadata.namespace, (object) => Object.assign(object.metadata, change));
  };
  for (const plural of plurals) each(plural, { ...leaving, finalizers: [] });
  for (const lease of operatorLeases()) memory.put('leases', lease);
  const hashes = new Map<string, string>();
  const skipWindows = new Set(revisions.flatMap(({ name, windowsPods }) => (windowsPods === 'Skip' ? name : [])));
  for (const { name, state, windowsPods } of revisions) {
    const sidecar = `spec:\n  containers:\n  - name: ${name}\n    image: proxy\n`;
    const spec = { webhook: { keys: keysOf[name] }, injection: { windowsPods, templates: { sidecar } }, paused: state === 'paused' };
    hashes.set(name, cluster.addRevision(name, spec));
    if (state !== 'published') memory.remove('mutatingwebhookconfigurations', `sidecar-injector-${name}`);
    if (state === 'deleting') memory.edit('injectorconfigs', name, undefined, ({ metadata }) => Object.assign(metadata, leaving));
  }
  for (const { name, revision: to, canary, threshold, isPublished } of tags) {
    const [hash, canaryHash] = [hashes.get(to), hashes.get(canary)];
    const [first] = hashes.keys();
    const stated = hash === undefined ? first : to;
    if (stated === undefined) memory.put('revisiontags', revisionTag(name, { revision: to }));
    else cluster.addTag(name, stated, { revision: to });
    const id = `sidecar-injector-${name === 'default' ? '' : 'tag-'}${name}`;
    const isLive = isPublished && hash !== undefined;
    if (!isLive && memory.get('mutatingwebhookconfigurations', id)) memory.remove('mutatingwebhookconfigurations', id);
    if (!isLive || canaryHash === undefined || canary === to || to === 'logs') continue;
    const [found, config] = [parseRevisionTag(memory.get('revisiontags', name)), parseInjectorConfig(memory.get('injectorconfigs', to))];
    const path = { tag: name, stable: { injectorConfig: to, hash }, canary: { injectorConfig: canary, hash: canaryHash }, threshold, shadow: false };
    const configuration = webhookConfiguration({ tag: found, config, hash, caBundlePem: 'ca', rollout: path }, context);
    memory.put('mutatingwebhookconfigurations', configuration);
  }
  if (hasIstio) memory.put('mutatingwebhookconfigurations', istio());
  each('mutatingwebhookconfigurations', { creationTimestamp: '2026-01-02T00:00:00Z' });
  // The API server adds this label.
  for (const [name, labels] of Object.entries(namespaces)) cluster.addNamespace(name, { ...labels, 'kubernetes.io/metadata.name': name });
  for (const [index, { namespace, app, by, isOld, labels, creationTimestamp, is }] of pods.entries()) {
    // The current configuration injects no such pod, so only an earlier one can have done it.
    const isSkipped = (by: string) => is === 'hostNetwork' || (is === 'windows' && skipWindows.has(by));
    const entries = by.map((name) => `${name}.${(isOld || isSkipped(name) ? undefined : hashes.get(name)) ?? '0a0a0a0a'}`);
    const statuses = Object.fromEntries(by.map((name) => [keysOf[name]?.status ?? '', JSON.stringify({ revision: name })]));
    const foreign = is === 'foreign' && { [istioKeys.status]: '{"revision":"old"}' };
    const injected = entries.length > 0 ? { 'sidecar-injector.io/config': entries.join(), ...statuses } : foreign;
    const annotations = { ...injected, ...(is === 'mirror' && { 'kubernetes.io/config.mirror': 'x' }) };
    const name = `${app}-${index}`;
    cluster.addPod(namespace, app, undefined, { name, creationTimestamp, labels, annotations, ...(is === 'ending' && leaving) });
    memory.edit('pods', name, namespace, (object) => {
      const held = is === 'held' && { schedulingGates: [{ name: gateOf('sidecar-injector-1-24') }] };
      const os = is === 'windows' && { os: { name: 'windows' } };
      object.spec = { containers: [], hostNetwork: is === 'hostNetwork', ...held, ...os };
      object.status = { phase: is === 'finished' ? 'Succeeded' : 'Pending' };
    });
  }
}

/** Returns what the leader counts in a cluster, for statuses and metrics. */
export async function leaderOf(memory: MemoryCluster): Promise<ClusterUsage> {
  const view = new ClusterView(context.namespace, context.operatorClass);
  const fill = (store: ObjectStore, plural: string): void => store.replace(memory.list(plural), '1');
  fill(view.configs, 'injectorconfigs');
  fill(view.tags, 'revisiontags');
  fill(view.mutatingWebhooks, 'mutatingwebhookconfigurations');
  const targets = new TagTargets(view, context.operatorClass);
  const clock = new ManualClock();
  const rules = (name: string, hash: string) => {
    const configMap = memory.get('configmaps', hashedConfigMapName(name, hash), context.namespace);
    const served = configMap && servedFiles(configMap);
    return Promise.resolve(served && loadInjector(served.files).rules);
  };
  const own = { namespace: context.namespace, rules, news: () => undefined, clock, logger: capturingLogger() };
  const usage = new ClusterUsage({ view, claims: () => targets.claims(), ...own });
  const begin = async (): Promise<void> => {
    const stores = { pods: new ObjectStore<PodRecord>(), namespaces: new ObjectStore() };
    const again: true[] = [];
    const groupOf = usage.begin(stores, new AbortController().signal, () => void again.push(true));
    fill(stores.namespaces, 'namespaces');
    stores.pods.replace(memory.list('pods').map((each) => podRecord(each, groupOf(each))), '1');
    await clock.advance(60_000);
    if (again.length > 0) await begin();
  };
  await begin();
  return usage;
}
