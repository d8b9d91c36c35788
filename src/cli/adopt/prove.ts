import type { Command } from 'commander';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { injectorConfigKind } from '../../api/injector-config/injector-config.ts';
import { namesThere } from '../../explain/nearest-name.ts';
import { podWebhooks, type WebhookTarget } from '../../explain/pod-webhook.ts';
import type { NamedInjector } from '../../explain/predict-pod.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { configurationReferences } from '../../manifests/configuration-files.ts';
import { configMaps, pods } from '../../operator/cluster-view.ts';
import { surroundingsOf } from '../../explain/files/facts.ts';
import { readClusterFacts, readConfigurations } from '../check/read-cluster-facts.ts';
import { readFileFacts } from '../../explain/files/read-file-facts.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { readFileObjects } from '../commands/check.ts';
import { readCreationFacts, readModeFacts } from '../diff/cluster-diff.ts';
import { loadConfigurations } from '../diff/configurations.ts';
import { makeReport, type WorkloadDiff } from '../diff/diff-report.ts';
import { htmlReport } from '../diff/html-report.ts';
import { printSummary } from '../diff/print-diff.ts';
import { readConfig } from '../../explain/files/read-config.ts';
import { outputOption, plural, writeData } from '../report/write-report.ts';
import { type Terminal, UnmatchedName, UsageError } from '../terminal.ts';
import { compareInjectors, type InjectorFacts } from './compare-injectors.ts';
import { inParallel } from './in-parallel.ts';
import { istioWebhooks } from './incumbent-webhooks.ts';
import { type NewestPod, newestPods } from './newest-pods.ts';
import { istioNamespaceOption } from './plan.ts';
import { exitCodeOf, type Proof, readIstioConfigMaps } from './proof.ts';

interface ProveOptions extends ClusterOptions {
  readonly filename?: readonly string[];
  readonly namespace?: string;
  readonly istioNamespace: string;
  readonly output: 'text' | 'json' | 'yaml' | 'html';
}

/** `injector adopt prove`: shows that new pods are equal, whichever injector answers. */
export function proveCommand(terminal: Terminal): Command {
  return clusterCommand('prove', "prove by dry runs that Istio's injector and this one make the same pods")
    .option('-f, --filename <file...>', 'files with InjectorConfigs and RevisionTags (default: those of the cluster)')
    .option('-n, --namespace <name>', 'only workloads of this namespace')
    .addOption(istioNamespaceOption())
    .addOption(outputOption(['text', 'json', 'yaml', 'html']))
    .action(async (options: ProveOptions) => {
      const proof = await withCluster(options, (client) => prove(client, options, terminal));
      if (options.output === 'html') terminal.document(htmlReport(proof));
      else if (options.output !== 'text') writeData(terminal, options.output, proof);
      else printSummary(terminal, proof);
      terminal.setExitCode(exitCodeOf(proof));
    });
}

async function prove(client: ApiClient, options: ProveOptions, terminal: Terminal): Promise<Proof> {
  const { namespace, istioNamespace, filename } = options;
  const time = new Date().toISOString();
  terminal.progress('reading the configurations');
  const objects = filename && (await readFileObjects(terminal, filename, '-f'));
  const remarks: string[] = [];
  const { facts, configurations, names } = await readInjectors(client, objects, namespace, remarks);
  if (namespace !== undefined && !names.includes(namespace))
    throw new UnmatchedName(`--namespace: there is no namespace ${namespace}; ${namesThere(namespace, names)}`);
  const istio = await readIstioConfigMaps(client, istioNamespace);
  const workloads = await newestPods(client, namespace, (text) => {
    terminal.progress(text);
  });
  const diffs: WorkloadDiff[] = [];
  const notCompared: Proof['proof']['notCompared'][number][] = [];
  let [stale, moved, done] = [0, 0, 0];
  await inParallel(workloads, async (workload: NewestPod) => {
    const stored = await client.find(pods, workload.pod, { namespace: workload.namespace });
    // A pod that has just ended has a successor, which an exact proof must compare.
    const found =
      stored === undefined
        ? ({ result: 'NotCompared', message: `its pod ${workload.pod} has just been deleted` } as const)
        : await compareInjectors(stored, workload, facts);
    done += 1;
    if (done % 20 === 0) terminal.progress(`${done} of ${plural(workloads.length, 'workload')} compared`);
    if (found?.result === 'Compared') {
      diffs.push(found.diff);
      if (found.isStale) stale += 1;
    } else if (found?.result === 'Moved') moved += 1;
    else if (found !== undefined) {
      const { namespace: own, kind, name } = workload;
      notCompared.push({ namespace: own, kind, name, message: found.message });
    }
  });
  terminal.progress('');
  if (stale > 0)
    remarks.push(`${plural(stale, 'workload')} stale under Istio: their newest pods differ from new ones already`);
  if (moved > 0) remarks.push(`${plural(moved, 'workload')} already moved: this injector answered the dry run`);
  for (const { namespace: own, kind, name, message } of notCompared.slice(0, mostNamed))
    remarks.push(`${kind.toLowerCase()}/${name} in namespace ${own} not compared: ${message}`);
  if (diffs.length + notCompared.length === 0)
    remarks.push(`nothing was compared: of ${plural(workloads.length, 'workload')}, Istio's injector injects none`);
  const to = filename?.join(' ') ?? 'the InjectorConfigs of the cluster';
  return {
    proof: {
      time,
      ...(namespace !== undefined && { namespace }),
      configurations,
      ...{ configMaps: istio, stale, moved, notCompared },
    },
    ...makeReport("Istio's injector", to, diffs, remarks, notCompared.length),
  };
}

/** The maximum number of workloads to name that were not compared; -o json has all. */
const mostNamed = 20;

/** The two injectors, and the hashes of our configurations by the names of InjectorConfigs. */
interface Injectors {
  readonly facts: InjectorFacts;
  readonly configurations: Readonly<Record<string, string>>;
  /** The names of all namespaces. */
  readonly names: readonly string[];
}

/**
 * Reads the two injectors.
 * @param objects our injectors in files; undefined for those of the cluster, empty for none
 * @param remarks receives what the user may not read
 */
export async function readInjectors(
  client: ApiClient,
  objects: readonly KubernetesObject[] | undefined,
  namespace: string | undefined,
  remarks: string[],
): Promise<Injectors> {
  const cluster = await readClusterFacts(client);
  remarks.push(...cluster.notes);
  const ours =
    objects === undefined ? await publishedInjectors(client, cluster) : await injectorsIn(client, cluster, objects);
  const theirs = istioWebhooks(cluster.configurations);
  if (theirs.length === 0)
    throw new UnmatchedName("no MutatingWebhookConfiguration of Istio's injector exists: there is nothing to adopt");
  const used = ours.webhooks.flatMap(({ target }) => target ?? []).map(ours.injectorOf);
  const loaded = used.flatMap((each) => ('unavailable' in each ? [] : [[each.name, each.hash] as const]));
  return {
    facts: {
      ...{ theirs, ours: ours.webhooks, injectorOf: ours.injectorOf, namespaces: cluster.namespaces },
      ...(await readCreationFacts(client, namespace, remarks)),
      create: (pod) => client.create(pod, { dryRun: true }),
    },
    configurations: Object.fromEntries(loaded),
    names: [...cluster.namespaces.keys()],
  };
}

type ClusterFacts = Awaited<ReturnType<typeof readClusterFacts>>;
type OurInjectors = { readonly webhooks: InjectorFacts['ours']; readonly injectorOf: InjectorFacts['injectorOf'] };

async function publishedInjectors(client: ApiClient, { configurations }: ClusterFacts): Promise<OurInjectors> {
  const webhooks = podWebhooks(configurations).filter(({ target }) => target !== undefined);
  if (webhooks.length === 0)
    throw new UsageError('no InjectorConfig of the cluster is published; name files with InjectorConfigs with -f');
  const surroundings = surroundingsOf({ configurations, filesOf: await readConfigurations(client, configurations) });
  const injectorOf = (target: WebhookTarget): NamedInjector | { readonly unavailable: string } => {
    const injector = surroundings.injectorOf(target);
    return 'unavailable' in injector ? injector : { name: target.injectorConfig, hash: target.hash, injector };
  };
  return { webhooks, injectorOf };
}

/** Loads the InjectorConfigs of files, as the operator would publish them in the cluster. */
async function injectorsIn(
  client: ApiClient,
  cluster: ClusterFacts,
  objects: readonly KubernetesObject[],
): Promise<OurInjectors> {
  const configs = objects.filter(({ kind }) => kind === injectorConfigKind).map(readConfig);
  const references = configs.flatMap(({ spec }) => Object.values({ ...configurationReferences(spec.injection) }));
  const named = new Map(references.map(({ namespace, name }) => [`${namespace}/${name}`, { namespace, name }]));
  const read = [...named.values()].map(({ namespace, name }) => client.find(configMaps, name, { namespace }));
  const all = [...objects, ...(await Promise.all(read)).flatMap((each) => each ?? [])];
  if (objects.length === 0) return { webhooks: [], injectorOf: () => ({ unavailable: 'there is none' }) };
  const loaded = await loadConfigurations('-f', all, undefined, (config) => readModeFacts(client, cluster, config));
  const { configurations } = readFileFacts(all, 'sidecar-injector-system');
  return {
    webhooks: podWebhooks(configurations).filter(({ target }) => target !== undefined),
    injectorOf: ({ injectorConfig }) =>
      loaded.find(({ name }) => name === injectorConfig) ?? { unavailable: `the files have no ${injectorConfig}` },
  };
}
