import type { Command } from 'commander';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { type CheckReport, checkSubject, type DryRunAnswer } from '../check/check-report.ts';
import { type Facts, surroundingsOf } from '../check/facts.ts';
import { findSubjects, parseTargets } from '../check/find-subjects.ts';
import { printChecks } from '../check/print-check.ts';
import { readClusterFacts } from '../check/read-cluster-facts.ts';
import { bringWebhooks, namespacesIn, readFileFacts } from '../check/read-file-facts.ts';
import { type Subject, subjectOf } from '../check/subject.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { exitCodes, type Terminal, UsageError } from '../terminal.ts';
import { tellHealth } from '../report/tell-health.ts';
import { type OutputFormat, outputOption } from '../report/write-report.ts';
import { readDocuments } from '../../inject/objects/read-documents.ts';
import { isJsonObject, type JsonObject } from '../../inject/patch/json-value.ts';
import { listItems, objectAt } from '../../inject/objects/workload-kinds.ts';
import { messageOf, readNamedFile } from '../files.ts';
import { injectedByAnnotation } from '../../api/names.ts';
import { creatableMetadata } from '../../explain/admission-pod.ts';
import { injectedByOf } from '../../explain/stored-pod.ts';
import { ApiError } from '../../kube/api-error.ts';

/**
 * Asks the API server by a dry run what it would store: nothing is stored. The pod of a name that exists is asked about under a generated one.
 * @throws ApiError for what is no answer: no connection, no right to create pods
 */
export async function askByDryRun(client: Pick<ApiClient, 'request'>, subject: Subject): Promise<DryRunAnswer> {
  const path = `/api/v1/namespaces/${encodeURIComponent(subject.namespace)}/pods`;
  const options = { query: { dryRun: 'All' }, body: JSON.stringify(creatable(subject)) };
  try {
    const stored = (await client.request('POST', path, options)) as KubernetesObject;
    const injectedBy = injectedByOf(stored);
    return injectedBy.length === 0
      ? { result: 'NotInjected', injectedBy, message: 'it would be stored without a sidecar of ours' }
      : { result: 'Injected', injectedBy, message: `it would be stored injected by ${injectedBy.join(', ')}` };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code < 400) throw error;
    // The right to create pods, or the namespace, is missing: that says nothing about injection.
    if ((error.code === 403 && error.message.includes(' cannot create ')) || error.code === 404) throw error;
    return { result: 'Refused', injectedBy: [], message: error.message };
  }
}

function creatable({ pod, stored }: Subject): JsonObject {
  const { name, ...others } = creatableMetadata(pod);
  const written = Object.entries(objectAt(pod, ['metadata', 'annotations']));
  const annotations = Object.fromEntries(written.filter(([key]) => key !== injectedByAnnotation));
  const named = stored === undefined ? { name } : { generateName: others.generateName ?? `${String(name)}-` };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...others, ...named, annotations }, spec: pod.spec };
}

interface CheckOptions extends ClusterOptions {
  readonly namespace?: string;
  readonly filename?: readonly string[];
  readonly output: OutputFormat;
  readonly steps?: true;
  readonly dryRun?: true;
  readonly as?: string;
  readonly asGroup: readonly string[];
  readonly operatorNamespace: string;
}

/** `injector check`: what becomes of a pod that is created now, and why; the exit status is the worst answer. */
export function checkCommand(terminal: Terminal): Command {
  return clusterCommand(
    'check',
    'say step by step whether a pod would be injected, by which configuration, and what would change that',
  )
    .argument('[object...]', 'TYPE/NAME or TYPE NAME… (pod, workload, namespace); a bare NAME is a pod')
    .option('-n, --namespace <name>', "the namespace of objects that name none (default: the kubeconfig's, or default)")
    .option(
      '-f, --filename <file...>',
      'YAML files with pods or workloads (- for standard input); with InjectorConfigs, RevisionTags or webhook configurations beside them no cluster is asked',
    )
    .option('--steps', 'print every step, also for several objects')
    .option('--dry-run', 'ask the API server too, by a dry run of the creation; its answer is the result')
    .option('--as <user>', 'who creates the pod, for matchConditions that read request.userInfo')
    .option('--as-group <group...>', 'with --as: the groups', [])
    .option(
      '--operator-namespace <name>',
      'without a cluster: where the operator would live',
      'sidecar-injector-system',
    )
    .addOption(outputOption())
    .action(async (targets: string[], options: CheckOptions) => {
      const { reports, health } = await check(terminal, targets, options);
      printChecks(terminal, options.output, reports, options.steps === true);
      terminal.setExitCode(exitCodeOf(reports));
      // As for programs: only what is wrong, on standard error.
      if (health !== undefined) tellHealth(terminal, 'json', health);
    });
}

/** The worst answer; a namespace's own row counts only if it is alone, or injected twice. */
function exitCodeOf(reports: readonly CheckReport[]): number {
  const objects = reports.filter(({ kind }) => kind !== 'Namespace');
  const results = new Set((objects.length > 0 ? objects : reports).map(({ result }) => result));
  if (results.has('Unknown')) return exitCodes.unknown;
  if (results.has('Refused')) return exitCodes.refused;
  const isTwice = reports.some(({ reason }) => reason === 'ForeignWebhook');
  return isTwice || results.has('NotInjected') || reports.length === 0 ? exitCodes.negative : exitCodes.success;
}

async function check(terminal: Terminal, targets: readonly string[], options: CheckOptions) {
  const files = options.filename ?? [];
  if ((targets.length === 0) === (files.length === 0))
    throw new UsageError('say what to check: TYPE/NAME or TYPE NAME (pod/web, namespace/shop), or files by -f');
  if (options.as === undefined && options.asGroup.length > 0)
    throw new UsageError('--as-group: name the user as well, with --as');
  const wanted = parseTargets(targets);
  const objects = await readFileObjects(terminal, files);
  if (files.length > 0) refuseWithoutPods(objects);
  if (bringWebhooks(objects)) {
    if (options.dryRun === true)
      throw new UsageError('--dry-run needs a cluster; the files bring their own webhooks, so none is asked');
    const facts = readFileFacts(objects, options.operatorNamespace);
    const subjects = fileSubjects(objects, options.namespace ?? 'default');
    return { reports: await reportsOf(subjects, facts, options), health: undefined };
  }
  return withCluster(options, async (client, kubeConfig) => {
    const context = kubeConfig.getContextObject(kubeConfig.getCurrentContext());
    const namespace = options.namespace ?? context?.namespace ?? 'default';
    const subjects =
      files.length > 0
        ? fileSubjects(objects, namespace)
        : (await Promise.all(wanted.map((target) => findSubjects(client, target, namespace)))).flat();
    const places = subjects.map((subject) => subject.namespace);
    const facts = await readClusterFacts(client, places);
    // A namespace that is about to be created with its pods has the labels of the file.
    const namespaces = new Map([...facts.namespaces, ...namespacesIn(objects)]);
    return { reports: await reportsOf(subjects, { ...facts, namespaces }, options, client), health: facts.health };
  });
}

function fileSubjects(objects: readonly KubernetesObject[], namespace: string): Subject[] {
  return objects.flatMap((object) => subjectOf(object, namespace) ?? []);
}

/** @throws UsageError that says what to add to files that ask about nothing */
function refuseWithoutPods(objects: readonly KubernetesObject[]): void {
  if (fileSubjects(objects, '').length > 0) return;
  const kinds = [...new Set(objects.map(({ kind }) => kind))].sort().join(', ');
  throw new UsageError(
    `--filename: the files hold neither pods nor workloads (${kinds === '' ? 'they are empty' : `only ${kinds}`}): ` +
      'add the Pod or the workload (Deployment, CronJob …) that is asked about, and its Namespace with the labels that it has',
  );
}

async function reportsOf(
  subjects: readonly Subject[],
  facts: Facts,
  { as, asGroup, dryRun }: CheckOptions,
  client?: ApiClient,
): Promise<CheckReport[]> {
  const surroundings = surroundingsOf(facts);
  const creator = as === undefined ? {} : { creator: { username: as, groups: asGroup } };
  const reports: CheckReport[] = [];
  for (const subject of subjects) {
    const asked = dryRun === true && client !== undefined ? { dryRun: await askByDryRun(client, subject) } : {};
    reports.push(checkSubject(subject, facts, surroundings, { ...creator, ...asked }));
  }
  return reports;
}

/**
 * The objects of YAML or JSON files, those of Lists one by one.
 * @throws UsageError naming the file, and the line or the object
 */
export async function readFileObjects(terminal: Terminal, files: readonly string[]): Promise<KubernetesObject[]> {
  const objects: KubernetesObject[] = [];
  for (const file of files) {
    const text = await readNamedFile(terminal, '--filename', file);
    let documents;
    try {
      documents = readDocuments(text);
    } catch (error) {
      throw new UsageError(`--filename ${file}: not YAML: ${messageOf(error)}`, { cause: error });
    }
    for (const { document } of documents) objects.push(...objectsIn(document.toJS() as unknown, file));
  }
  return objects;
}

function objectsIn(value: unknown, file: string): KubernetesObject[] {
  if (value === null || value === undefined) return [];
  if (!isJsonObject(value) || typeof value.apiVersion !== 'string' || typeof value.kind !== 'string')
    throw new UsageError(`--filename ${file}: holds something without apiVersion and kind; give Kubernetes objects`);
  const items = listItems(value);
  if (items !== undefined) return items.flatMap((item) => objectsIn(item, file));
  const { apiVersion, kind } = value;
  return [{ ...value, apiVersion, kind, metadata: objectAt(value, ['metadata']) }];
}
