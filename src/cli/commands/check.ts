import type { Command } from 'commander';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { type CheckReport, checkSubject, type DryRunAnswer } from '../check/check-report.ts';
import { readCreationFacts } from '../diff/cluster-diff.ts';
import type { Facts } from '../check/facts.ts';
import { surroundingsOf } from '../../explain/files/facts.ts';
import { findSubjects, parseTargets } from '../check/find-subjects.ts';
import { printChecks } from '../check/print-check.ts';
import { readClusterFacts } from '../check/read-cluster-facts.ts';
import { bringWebhooks, namespacesIn, readFileFacts } from '../../explain/files/read-file-facts.ts';
import { type Subject, subjectOf } from '../check/subject.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { exitCodes, type Terminal, UsageError } from '../terminal.ts';
import { type OutputFormat, outputOption } from '../report/write-report.ts';
import { tellHealth } from '../usage/operator-health.ts';
import { mapParts } from '../../inject/objects/parts-of-file.ts';
import { isJsonObject, type JsonObject } from '../../inject/patch/json-value.ts';
import { listItems, objectAt } from '../../inject/objects/workload-kinds.ts';
import { atFile } from '../files.ts';
import { readFiles } from '../read-folder.ts';
import { injectedByAnnotation } from '../../api/names.ts';
import { creatableMetadata } from '../../inject/kubernetes/admission-pod.ts';
import { otherInjectorStatus } from '../../explain/other-injector.ts';
import { injectedByOf } from '../../explain/stored-pod.ts';
import { ApiError } from '../../kube/api-error.ts';

/**
 * Sends the creation of a subject's pod to the API server as a dry run. An existing pod is sent
 * with a generated name.
 * @throws ApiError when the error says nothing about injection: a lost connection, or a missing
 *   right to create pods
 */
export async function askByDryRun(client: Pick<ApiClient, 'request'>, subject: Subject): Promise<DryRunAnswer> {
  const path = `/api/v1/namespaces/${encodeURIComponent(subject.namespace)}/pods`;
  const options = { query: { dryRun: 'All' }, body: JSON.stringify(creatable(subject)) };
  try {
    const stored = (await client.request('POST', path, options)) as KubernetesObject;
    const injectedBy = injectedByOf(stored);
    const status = otherInjectorStatus(stored, istioKeys.status);
    const other = status === undefined ? '' : ' and with the sidecar of another injector';
    const how =
      injectedBy.length === 0 ? `without our sidecar${other}` : `with the sidecar of ${injectedBy.join(', ')}`;
    const result = injectedBy.length === 0 ? 'NotInjected' : 'Injected';
    return { result, injectedBy, message: `the pod would be stored ${how}` };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code < 400) throw error;
    if (error.code === 404) throw new UsageError(`--dry-run: ${error.message}`);
    // A missing right to create pods says nothing about injection.
    if (error.code === 403 && error.message.includes(' cannot create ')) throw error;
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

/** `injector check`: explains whether a new pod is injected; exits with the worst code. */
export function checkCommand(terminal: Terminal): Command {
  return clusterCommand(
    'check',
    'explain step by step whether a pod would be injected, by which configuration, and how to change the result',
  )
    .argument('[object...]', 'TYPE/NAME or TYPE NAME… (pod, workload, namespace); a bare NAME is a pod')
    .option('-n, --namespace <name>', "the namespace if an object names none (default: the kubeconfig's, or default)")
    .option(
      '-f, --filename <file...>',
      'YAML files with pods or workloads (- for standard input); if they also contain InjectorConfigs, RevisionTags or webhook configurations, no cluster is used',
    )
    .option('--steps', 'print all steps, even for several objects')
    .option('--dry-run', "also send the creation to the API server as a dry run; the API server's answer is the result")
    .option('--as <user>', 'the user who creates the pod, for matchConditions that read request.userInfo')
    .option('--as-group <group...>', 'with --as: the groups of the user', [])
    .option(
      '--operator-namespace <name>',
      'without a cluster: the namespace of the operator',
      'sidecar-injector-system',
    )
    .addOption(outputOption())
    .action(async (targets: string[], options: CheckOptions) => {
      const { reports, health } = await check(terminal, targets, options);
      printChecks(terminal, options.output, reports, options.steps === true);
      terminal.setExitCode(exitCodeOf(reports));
      // Format json prints only problems, and prints them on standard error.
      if (health !== undefined) tellHealth(terminal, 'json', health);
    });
}

/** Returns the exit code of the worst result. Ignores namespaces if there are other objects. */
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
    throw new UsageError('name what to check: TYPE/NAME or TYPE NAME (pod/web, namespace/shop), or files with -f');
  if (options.as === undefined && options.asGroup.length > 0)
    throw new UsageError('--as-group: also name the user with --as');
  const requested = parseTargets(targets);
  const objects = await readFileObjects(terminal, files);
  if (files.length > 0) refuseWithoutPods(objects);
  if (bringWebhooks(objects)) {
    if (options.dryRun === true)
      throw new UsageError('--dry-run: remove it; files with webhooks are checked without a cluster');
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
        : (await Promise.all(requested.map((target) => findSubjects(client, target, namespace)))).flat();
    const used = subjects.map((subject) => subject.namespace);
    const facts = await readClusterFacts(client, used);
    // A Namespace in the files has precedence, because the user will apply it.
    const namespaces = new Map([...facts.namespaces, ...namespacesIn(objects)]);
    return { reports: await reportsOf(subjects, { ...facts, namespaces }, options, client), health: facts.health };
  });
}

/** Explains one object of the cluster, for example `deployment/web`. */
export async function checkObject(client: ApiClient, object: string, namespace: string): Promise<CheckReport[]> {
  const [target] = parseTargets([object]);
  const subjects = target === undefined ? [] : await findSubjects(client, target, namespace);
  return reportsOf(subjects, await readClusterFacts(client, [namespace]), { asGroup: [] }, client);
}

function fileSubjects(objects: readonly KubernetesObject[], namespace: string): Subject[] {
  return objects.flatMap((object) => subjectOf(object, namespace) ?? []);
}

/** @throws UsageError when the files contain nothing to check */
function refuseWithoutPods(objects: readonly KubernetesObject[]): void {
  if (fileSubjects(objects, '').length > 0) return;
  const kinds = [...new Set(objects.map(({ kind }) => kind))].sort().join(', ');
  throw new UsageError(
    `--filename: the files contain no pods or workloads (${kinds === '' ? 'they are empty' : `only ${kinds}`}): ` +
      'add the Pod or the workload (Deployment, CronJob …) to check, and its Namespace with labels',
  );
}

async function reportsOf(
  subjects: readonly Subject[],
  facts: Facts,
  { as, asGroup, dryRun }: Pick<CheckOptions, 'as' | 'asGroup' | 'dryRun'>,
  client?: ApiClient,
): Promise<CheckReport[]> {
  const surroundings = surroundingsOf(facts);
  const creator = as === undefined ? {} : { creator: { username: as, groups: asGroup } };
  const reports: CheckReport[] = [];
  const notes: string[] = [];
  const hasOthers = subjects.some(
    ({ stored }) => stored && otherInjectorStatus(stored, istioKeys.status) !== undefined,
  );
  const { namespaces } = facts;
  const others =
    client === undefined || !hasOthers
      ? {}
      : { creationFacts: { namespaces, ...(await readCreationFacts(client, undefined, notes)) } };
  const known = { ...facts, notes: [...facts.notes, ...notes] };
  for (const subject of subjects) {
    const asked = dryRun === true && client !== undefined ? { dryRun: await askByDryRun(client, subject) } : {};
    reports.push(checkSubject(subject, known, surroundings, { ...creator, ...asked, ...others }));
  }
  return reports;
}

/** Reads the objects of files and folders. @throws UsageError naming the file and line */
export async function readFileObjects(
  terminal: Terminal,
  files: readonly string[],
  flag = '--filename',
): Promise<KubernetesObject[]> {
  const objects: KubernetesObject[] = [];
  for await (const { name, text, isListed } of readFiles(terminal, flag, files)) {
    const source = `${flag} ${name}`;
    const ignore = (): void => terminal.error(`${source}: ignored a document without apiVersion and kind`);
    for (const object of objectsOfText(text, source, isListed && ignore)) objects.push(object);
  }
  return objects;
}

/**
 * Reads the objects of a YAML text. @throws UsageError that begins with `source`
 * @param ignore is called for a document that is not an object, for example in a file of values
 */
export function objectsOfText(text: string, source: string, ignore?: () => void): KubernetesObject[] {
  const values = atFile(`${source}: not YAML`, () => mapParts(text, ({ read }) => [read()]));
  return values.flatMap((value) => objectsIn(value, source, ignore));
}

function objectsIn(value: unknown, source: string, ignore?: () => void): KubernetesObject[] {
  if (value === null || value === undefined) return [];
  if (!isJsonObject(value) || typeof value.apiVersion !== 'string' || typeof value.kind !== 'string') {
    if (ignore === undefined) throw new UsageError(`${source}: contains a document without apiVersion and kind`);
    ignore();
    return [];
  }
  const items = listItems(value);
  if (items !== undefined) return items.flatMap((item) => objectsIn(item, source, ignore));
  const { apiVersion, kind } = value;
  return [{ ...value, apiVersion, kind, metadata: objectAt(value, ['metadata']) }];
}
