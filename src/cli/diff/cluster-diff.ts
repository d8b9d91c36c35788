import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { type InjectorConfig, revisionOf } from '../../api/injector-config/injector-config.ts';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import { calledInjector, explainCreation, otherInjector } from '../../explain/explain-creation.ts';
import { namesThere } from '../../explain/nearest-name.ts';
import { podWebhooks, type WebhookTarget } from '../../explain/pod-webhook.ts';
import { otherInjectorStatus } from '../../explain/other-injector.ts';
import type { NamedInjector } from '../../explain/predict-pod.ts';
import { uninjectPod } from '../../explain/uninject.ts';
import { isJsonObject } from '../../inject/patch/json-value.ts';
import { isTemporary } from '../../inject/rehearsal/dry-run.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError, isNotFound } from '../../kube/api-error.ts';
import { resourceKind, type ResourceKind } from '../../kube/resource-kinds.ts';
import { configMaps, kubeletFacts, nodes } from '../../operator/cluster-view.ts';
import { dryRunPods } from '../../operator/configurations/dry-run-pods.ts';
import type { ModeFacts } from '../../operator/configurations/native-mode.ts';
import { proxyConfigResource, proxyConfigs } from '../../operator/replicas/proxy-config-resources.ts';
import {
  type ConfigurationReference,
  configurationReferences,
  type ReferencedTexts,
} from '../../manifests/configuration-files.ts';
import type { Facts } from '../check/facts.ts';
import { creationOf, load, surroundingsOf } from '../../explain/files/facts.ts';
import { readClusterFacts, readConfigurations, readConfigurationFiles } from '../check/read-cluster-facts.ts';
import { referencedTexts } from '../../explain/files/read-file-facts.ts';
import { plural } from '../report/write-report.ts';
import { noSuchTag } from '../tags/stored-tag.ts';
import { type Terminal, UnmatchedName } from '../terminal.ts';
import { configOfRevision } from '../usage/installation.ts';
import { compareWorkload, type CreationFacts, type DiffFacts, type InjectorPair, noSums } from './compare.ts';
import { type DiffReport, makeReport, type WorkloadDiff } from './diff-report.ts';
import { type DiffWorkload, readWorkloads } from './read-workloads.ts';

type Reader = Pick<ApiClient, 'find' | 'list' | 'listAll'>;

/** What to compare in a cluster. */
export interface ClusterDiff {
  readonly namespace?: string | undefined;
  /** `namespace/kind/name`, to compare one workload in full. */
  readonly workload?: string | undefined;
  /** Only pods that get this revision now. */
  readonly from?: string | undefined;
  /** Only pods that get their configuration by this tag. */
  readonly tag?: string | undefined;
  /** Whether the report contains the predicted pods. */
  readonly isDetailed?: boolean;
  /** The client for dry runs, by which the API server validates changed pods; absent to skip. */
  readonly server?: Pick<ApiClient, 'create'>;
  /** What comes after, in words. */
  readonly to: string;
  /**
   * Returns the configuration that follows an active one; undefined if none does. Absent to compare
   * running pods with new pods of the active configurations.
   */
  readonly after?: (facts: Facts) => Promise<(active: NamedInjector) => NamedInjector | undefined>;
}

/** Compares the pods of a cluster before and after a change of configurations. */
export async function diffCluster(
  client: Reader,
  request: ClusterDiff,
  terminal: Pick<Terminal, 'progress'>,
): Promise<DiffReport> {
  const [onlyNamespace] = request.workload?.split('/') ?? [request.namespace];
  terminal.progress('reading the configurations');
  const facts = await readClusterFacts(client);
  const { revisionTags } = facts;
  if (request.tag !== undefined && revisionTags.every(({ metadata }) => metadata.name !== request.tag))
    throw new UnmatchedName(noSuchTag(request.tag, revisionTags).message);
  if (onlyNamespace !== undefined && !facts.namespaces.has(onlyNamespace))
    throw unmatchedNamespace(
      `--${request.workload === undefined ? 'namespace' : 'workload'}`,
      onlyNamespace,
      facts.namespaces.keys(),
    );
  const after = await request.after?.(facts);
  const fromConfigs = request.from === undefined ? undefined : namesOfRevision(facts, request.from);
  const { workloads, entries, notes } = await readWorkloads(client, onlyNamespace, (text) => {
    terminal.progress(text);
  });
  const injectors = await readInjectors(client, facts, entries);
  const remarks = [...facts.notes, ...notes];
  const { configurations, namespaces } = facts;
  // The configurations of a webhook exist even if no operator runs.
  const filesOf = await readConfigurations(client, configurations);
  const surroundings = surroundingsOf({ configurations, filesOf });
  /** Why active configurations cannot be used, with the number of workloads. */
  const unknown = new Map<string, number>();
  /** How many workloads have an active configuration that nothing follows. */
  let kept = 0;
  /** Finds the webhook that the API server would call for a new pod of the workload. */
  const pairOf = ({ stored, template, namespace }: DiffWorkload): InjectorPair | undefined => {
    const { pod } = uninjectPod(stored ?? template?.pod ?? {});
    const creation = creationOf({ namespace, pod }, namespaces);
    const { reason: why, webhooks } = explainCreation(creation, surroundings);
    const leaveOut = (reason: string): void => void unknown.set(reason, (unknown.get(reason) ?? 0) + 1);
    const taken = `webhook configuration ${calledInjector(webhooks)?.configuration ?? ''} of another injector injects them`;
    for (const { target, outcome, reason } of webhooks) {
      if (target === undefined || (outcome === 'NotCalled' && reason !== otherInjector)) continue;
      const { injectorConfig, hash, tag } = target;
      if (request.tag !== undefined && request.tag !== tag) continue;
      if (fromConfigs?.has(injectorConfig) === false) continue;
      if (reason === otherInjector) {
        leaveOut(taken);
        return undefined;
      }
      const injector = surroundings.injectorOf(target);
      if ('unavailable' in injector) {
        leaveOut(`InjectorConfig ${injectorConfig}: ${injector.unavailable}`);
        continue;
      }
      const before = { name: injectorConfig, hash, injector };
      if (after === undefined) return { after: before };
      const following = after(before);
      if (following !== undefined) return { before, after: following };
      kept += 1;
    }
    // Without --tag and --from, workloads that none of our webhooks selects are requested, too.
    if (why === otherInjector && request.tag === undefined && fromConfigs === undefined) leaveOut(taken);
    return undefined;
  };
  const diffFacts: DiffFacts = {
    namespaces,
    isDetailed: request.isDetailed === true,
    pairOf,
    ...(await readCreationFacts(client, onlyNamespace, remarks)),
    selectedLabels: selectedLabels(await listReadable(client, resourceKind('v1', 'Service'), onlyNamespace, remarks)),
    injectorOf: (entry) => injectors.get(entry),
  };
  const compared = chosen(workloads, request.workload);
  const diffs = compareAll(compared, diffFacts, terminal);
  await validateDiffs(request.server, targetOf(facts, '', '').namespace, diffs, compared, diffFacts, remarks);
  const others = compared.filter(({ stored }) => stored && otherInjectorStatus(stored, istioKeys.status) !== undefined);
  const [example] = others.map(({ namespace, kind, name }) => `${namespace}/${kind}/${name}`);
  if (example !== undefined)
    remarks.push(
      `another injector made the pods of ${plural(others.length, 'workload')}, for example of ${example}; \`injector status\` compares them with new pods`,
    );
  for (const [reason, count] of unknown) remarks.push(`${plural(count, 'workload')} not compared: ${reason}`);
  const from = request.from === undefined ? 'the active configurations' : `revision ${request.from}`;
  const notCompared = [...unknown.values()].reduce((sum, count) => sum + count, 0);
  if (diffs.length + notCompared === 0) {
    const where = onlyNamespace === undefined ? 'the cluster' : `namespace ${onlyNamespace}`;
    const why =
      kept > 0
        ? `is injected by a configuration that ${request.to} replaces`
        : `is injected by ${request.tag === undefined ? from : `tag ${request.tag}`}`;
    remarks.push(`nothing was compared: of ${plural(compared.length, 'workload')} in ${where}, none ${why}`);
  }
  return makeReport(from, request.to, diffs, remarks, notCompared);
}

/**
 * Reads what the creation of pods depends on, apart from their namespaces.
 * @param remarks receives what the user may not list
 */
export async function readCreationFacts(
  client: Pick<ApiClient, 'listAll'>,
  namespace: string | undefined,
  remarks: string[],
): Promise<Omit<CreationFacts, 'namespaces'>> {
  const list = async (resource: ResourceKind) => (await listReadable(client, resource, namespace, remarks)) ?? [];
  return {
    limitRanges: await list(resourceKind('v1', 'LimitRange')),
    nodes: (await list(nodes)).map(kubeletFacts),
    proxyConfigs: (await list(proxyConfigs)).map(proxyConfigResource),
  };
}

/** Lists objects; undefined, and a remark, if the user may not. */
async function listReadable(
  client: Pick<ApiClient, 'listAll'>,
  resource: ResourceKind,
  namespace: string | undefined,
  remarks: string[],
): Promise<readonly KubernetesObject[] | undefined> {
  try {
    return (await client.listAll(resource, resource.namespaced ? { namespace } : {})).items;
  } catch (error) {
    if (isNotFound(error)) return [];
    if (!(error instanceof ApiError) || error.code !== 403) throw error;
    remarks.push(`${resource.kind}s cannot be listed, so they are left out: ${error.message}`);
    return undefined;
  }
}

/** Returns the labels that the selectors of Services read, by namespace; undefined if not known. */
function selectedLabels(services: readonly KubernetesObject[] | undefined): DiffFacts['selectedLabels'] {
  if (services === undefined) return undefined;
  const found = new Map<string, Set<string>>();
  for (const { metadata, spec } of services) {
    const { selector = {} } = (spec ?? {}) as { readonly selector?: Readonly<Record<string, string>> };
    const { namespace = '' } = metadata;
    const labels = found.get(namespace) ?? new Set();
    for (const label of Object.keys(selector)) labels.add(label);
    found.set(namespace, labels);
  }
  return found;
}

/** The maximum number of workloads whose new pods the API server validates. */
const mostValidated = 20;

/**
 * Lets the API server validate changed pods, by dry runs in the operator's namespace, which all our
 * webhooks exclude. Replaces the diffs of workloads whose pods are invalid only after the change.
 * @param remarks receives the reason why pods were not validated
 */
async function validateDiffs(
  server: ClusterDiff['server'],
  namespace: string | undefined,
  diffs: WorkloadDiff[],
  workloads: readonly DiffWorkload[],
  facts: DiffFacts,
  remarks: string[],
): Promise<void> {
  if (server === undefined || namespace === undefined) return;
  const changed = [...diffs.entries()].filter(([, { changes }]) => changes.length > 0).slice(0, mostValidated);
  let problem: string | undefined;
  for (const [index, diff] of changed) {
    const named = [diff.kind, diff.namespace, diff.name].join();
    const workload = workloads.find(({ kind, namespace: own, name }) => [kind, own, name].join() === named);
    const { before, after } = (workload && compareWorkload(workload, { ...facts, isDetailed: true }))?.predicted ?? {};
    if (!isJsonObject(before) || !isJsonObject(after)) continue;
    const pod = { kind: `${diff.kind} ${diff.namespace}/${diff.name}`, pod: after, original: before };
    const { isRefused, invalid, unjudged } = await dryRunPods(server, { namespace, injectKey: istioKeys.inject }, [
      pod,
    ]);
    const refusal = { ...diff.after, outcome: 'Refused', reason: 'Invalid', message: invalid.join('; ') } as const;
    if (isRefused) diffs[index] = { ...diff, after: refusal, changes: [], resources: noSums };
    problem ??= unjudged?.message;
    if (isTemporary(unjudged?.reason)) break;
  }
  if (problem !== undefined) remarks.push(`not all pods were validated: ${problem}`);
}

/** Compares workloads, and says on the terminal how far it is. */
export function compareAll(
  workloads: readonly DiffWorkload[],
  facts: DiffFacts,
  terminal: Pick<Terminal, 'progress'>,
): WorkloadDiff[] {
  const diffs = workloads.flatMap((workload, index) => {
    if (index % 20 === 0) terminal.progress(progressBar(index, workloads.length));
    return compareWorkload(workload, facts) ?? [];
  });
  terminal.progress('');
  return diffs;
}

function progressBar(done: number, all: number): string {
  const filled = Math.floor((done / Math.max(1, all)) * 30);
  return `[${'#'.repeat(filled)}${' '.repeat(30 - filled)}] ${done} of ${all} workloads compared`;
}

/** Makes the error for a namespace in which there is nothing to compare. */
export function unmatchedNamespace(flag: string, name: string, names: Iterable<string>): UnmatchedName {
  return new UnmatchedName(`${flag}: there is no namespace ${name}; ${namesThere(name, names)}`);
}

/** @throws UnmatchedName if there is no such workload */
export function chosen<Chosen extends Pick<DiffWorkload, 'namespace' | 'kind' | 'name'>>(
  workloads: readonly Chosen[],
  wanted: string | undefined,
): readonly Chosen[] {
  if (wanted === undefined) return workloads;
  const idOf = ({ namespace, kind, name }: Chosen): string => `${namespace}/${kind}/${name}`;
  const found = workloads.filter((each) => idOf(each).toLowerCase() === wanted.toLowerCase());
  if (found.length > 0) return found;
  throw new UnmatchedName(`--workload: there is no workload ${wanted}; ${namesThere(wanted, workloads.map(idOf))}`);
}

function namesOfRevision({ injectorConfigs }: Facts, revision: string): ReadonlySet<string> {
  const found = injectorConfigs.filter((config) => revisionOf(config) === revision);
  if (found.length > 0) return new Set(found.map(({ metadata }) => metadata.name));
  throw new UnmatchedName(
    `--from ${revision}: no InjectorConfig has this revision; ${namesThere(revision, injectorConfigs.map(revisionOf))}`,
  );
}

/** Loads the configurations that injected pods, as far as they still exist. */
async function readInjectors(client: Reader, facts: Facts, entries: ReadonlySet<string>) {
  const injectors = new Map<string, NamedInjector>();
  for (const entry of [...entries].slice(0, mostConfigurations)) {
    const [name, hash] = [entry.slice(0, -9), entry.slice(-8)] as const;
    const target = targetOf(facts, name, hash);
    const injector = load(await readConfigurationFiles(client, target));
    if (!('unavailable' in injector)) injectors.set(entry, { name, hash, injector });
  }
  return injectors;
}

/** Names a configuration; its ConfigMap stands beside the Service of the operator's webhooks. */
function targetOf({ configurations }: Facts, injectorConfig: string, hash: string): WebhookTarget {
  const namespace = podWebhooks(configurations).find(({ target }) => target !== undefined)?.target?.namespace;
  return { injectorConfig, hash, namespace };
}

/** The maximum number of configurations to read: authors can write any entry into an annotation. */
const mostConfigurations = 200;

/** Returns the published configuration of a revision. @throws UnmatchedName */
async function publishedInjector(client: Reader, facts: Facts, revision: string): Promise<NamedInjector> {
  const config = configOfRevision({ configs: facts.injectorConfigs }, revision);
  if (config === undefined) {
    const isTag = facts.revisionTags.find(({ metadata }) => metadata.name === revision);
    const tag = isTag && `it is a tag that points to revision ${isTag.spec.revision}`;
    const names = facts.injectorConfigs.map(revisionOf);
    throw new UnmatchedName(
      `--to ${revision}: no InjectorConfig has this revision; ${tag ?? namesThere(revision, names)}`,
    );
  }
  const { name } = config.metadata;
  const hash = config.status?.config?.hash;
  if (hash === undefined) throw new Error(`InjectorConfig ${name} has no published configuration; see its conditions`);
  const injector = load(await readConfigurationFiles(client, targetOf(facts, name, hash)));
  if ('unavailable' in injector) throw new Error(`InjectorConfig ${name}: ${injector.unavailable}`);
  return { name, hash, injector };
}

/** Reads the texts to which an InjectorConfig refers. */
export async function readReferencedTexts(client: Reader, config: InjectorConfig): Promise<ReferencedTexts> {
  const references = Object.values<ConfigurationReference>({ ...configurationReferences(config.spec.injection) });
  const reads = references.map(({ namespace, name }) => client.find(configMaps, name, { namespace }));
  const found = (await Promise.all(reads)).filter((each) => each !== undefined);
  return referencedTexts(config, found);
}

/** Reads what mode Auto of native sidecars depends on; no nodes if they cannot be listed. */
export async function readModeFacts(client: Reader, facts: Facts, config: InjectorConfig): Promise<ModeFacts> {
  const { name } = config.metadata;
  const live = facts.injectorConfigs.find(({ metadata }) => metadata.name === name);
  const hash = live?.status?.config?.hash;
  const target = hash === undefined ? undefined : { injectorConfig: name, hash, namespace: undefined };
  const files = target && (await readConfigurationFiles(client, target));
  const published = hash === undefined || files === undefined || 'unavailable' in files ? undefined : { files, hash };
  const listed = await client.listAll(nodes).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 403) return { items: [] };
    throw error;
  });
  return { published, nodes: listed.items.map(kubeletFacts) };
}

/** The published configuration of a revision comes after every configuration of its family. */
export function toRevision(client: Reader, revision: string): Pick<ClusterDiff, 'to' | 'after'> {
  const after = async (facts: Facts) => followsFamily(await publishedInjector(client, facts, revision));
  return { to: `revision ${revision}`, after };
}

/** Lets a configuration follow every configuration of its family. */
export function followsFamily(next: NamedInjector) {
  const { status } = next.injector.family.keys;
  return ({ injector }: NamedInjector): NamedInjector | undefined =>
    injector.family.keys.status === status ? next : undefined;
}
