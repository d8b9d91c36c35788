import type { Figures } from '../../bench/report.ts';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { labelNames, managedBy } from '../../src/api/names.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { isNotFound } from '../../src/kube/api-error.ts';
import { resourceKind, type ResourceKind } from '../../src/kube/resource-kinds.ts';
import { AuditLog, describeEvent, type AuditEvent } from './audit-log.ts';
import type { Cluster } from './cluster.ts';
import type { ControlPlane } from './control-plane.ts';
import { installChart, type Installation } from './installation.ts';
import type { OperatorProcess } from './operator-process.ts';
import { PodLoad, type PodLoadOptions } from './load/pod-load.ts';
import { Replicas, type ReplicaOptions } from './replicas/replicas.ts';
import type { RightsUsed } from './rights/rights-used.ts';
import { startStandstill, type Standstill } from './standstill/standstill.ts';
import { found, waitFor, type Probe, type WaitOptions } from './wait-for.ts';
import { validatingWebhooks, webhooks } from './webhook-configurations.ts';
import { createNamespace, scenarioLabel } from './workloads.ts';

export interface ScenarioSize {
  /** `short` (seconds) in `make test`; `full` (minutes) in `make gates`. */
  size: 'short' | 'full';
  /** The seed of all random choices, which makes runs repeatable. */
  seed: number;
}

/** The environment of a scenario: a cluster, checks, and the cleanup at its end. */
export class ScenarioContext {
  readonly cluster: Cluster;
  readonly name: string;
  readonly size: ScenarioSize['size'];
  readonly seed: number;
  readonly rights: RightsUsed;
  passed = 0;
  readonly #report: (line: string) => void;
  readonly #installations: Installation[] = [];
  readonly #replicas: Replicas[] = [];
  readonly #endings: (() => unknown)[] = [];
  /** The figures for docs/measurements. */
  figures: Figures = {};
  /** When the roles of an earlier release applied to the operator, in milliseconds since 1970. */
  readonly earlierRoles: { readonly from: number; readonly until: number }[] = [];

  constructor(
    cluster: Cluster,
    name: string,
    { size, seed }: ScenarioSize,
    rights: RightsUsed,
    report: (line: string) => void,
  ) {
    this.cluster = cluster;
    this.name = name;
    this.size = size;
    this.seed = seed;
    this.rights = rights;
    this.#report = report;
  }

  get client(): Cluster['client'] {
    return this.cluster.client;
  }

  /** Opens the audit log at its end; undefined on the user's own cluster, whose log is hidden. */
  startAudit(): AuditLog | undefined {
    const file = this.cluster.controlPlane?.auditLog;
    return file === undefined ? undefined : new AuditLog(file);
  }

  requireAudit(): AuditLog {
    const audit = this.startAudit();
    if (audit === undefined) throw new Error('this scenario needs the audit log of the embedded control plane');
    return audit;
  }

  /** Records which rights the scenario's processes have used since the log was opened. */
  collectRights(audit: AuditLog | undefined): void {
    const events = this.#settled(audit);
    for (const installation of this.#installations) this.rights.collect(installation, events);
  }

  /** Returns the events of the operator, except those before the API server knew its roles. */
  #settled(audit: AuditLog | undefined): AuditEvent[] {
    const excepted = [...(this.cluster.controlPlane?.starts ?? []), ...this.earlierRoles];
    return (audit?.events() ?? []).filter(({ stageTimestamp, userAgent = '' }) => {
      const time = Date.parse(stageTimestamp);
      // Some scenarios send requests with a token of the operator.
      return !userAgent.startsWith('e2e-') && !excepted.some(({ from, until }) => time >= from && time <= until);
    });
  }

  /** Checks, for every scenario, that the chart grants all rights that the operator needed. */
  async checkRights(audit: AuditLog | undefined): Promise<void> {
    const users = new Set(this.#installations.flatMap(({ usernames }) => usernames));
    if (audit === undefined || users.size === 0) return;
    const refused = this.#settled(audit)
      .filter(({ user, responseStatus }) => users.has(user.username) && responseStatus?.code === 403)
      .filter(({ responseStatus }) => responseStatus?.message?.includes(' cannot ') === true);
    const distinct = new Set(refused.map(describeEvent));
    await this.checkNow("the chart's roles allowed every request of the operator", () =>
      found([...distinct].join('; '), ''),
    );
  }

  /** Adds figures. A later figure with the same name replaces an earlier figure. */
  measured(figures: Figures): void {
    this.figures = { ...this.figures, ...figures };
  }

  say(line: string): void {
    this.#report(`      ${line}`);
  }

  /**
   * Waits until a statement holds, then prints and counts it.
   *
   * @param statement a fact, for example `a pod remains when its InjectorConfig is deleted`
   * @param probe returns a value if the statement holds; the last error explains a failure
   */
  async check<Value>(statement: string, probe: Probe<Value>, options: WaitOptions = {}): Promise<Value> {
    const started = Date.now();
    const value = await waitFor(`this to be true: ${statement}`, probe, options);
    this.passed++;
    this.#report(`  ok  ${statement} (${Date.now() - started} ms)`);
    return value;
  }

  async checkNow<Value>(statement: string, probe: Probe<Value>): Promise<Value> {
    return await this.check(statement, probe, { timeout: 0 });
  }

  /** Creates a namespace whose name starts with the scenario's name. */
  async namespace(suffix: string, labels: Record<string, string> = {}): Promise<string> {
    const name = `${this.name}-${suffix}`;
    await createNamespace(this.client, name, labels);
    return name;
  }

  /** Installs the chart into a namespace of this scenario; by default, with one process. */
  async install(
    values: Record<string, unknown> = {},
    apply?: (objects: KubernetesObject[]) => Promise<unknown>,
    render?: ReplicaOptions['render'],
  ): Promise<Installation> {
    const namespace = `${this.name}-system`;
    const installation = await installChart(this.cluster, namespace, { mode: 'all', ...values }, apply, render);
    this.#installations.push(installation);
    return installation;
  }

  /** Installs the chart and starts one process for all roles. Resolves when it is ready. */
  async startOperator(): Promise<OperatorProcess> {
    return (await this.install()).startOperator();
  }

  /** Returns the embedded control plane, whose components can be stopped. */
  requireControlPlane(): ControlPlane {
    const { controlPlane } = this.cluster;
    if (controlPlane === undefined) throw new Error('this scenario needs the embedded control plane');
    return controlPlane;
  }

  /**
   * Installs the production chart and starts its processes behind a balancer: by default three
   * webhook replicas and two controllers. All are ready and in rotation when this resolves.
   */
  async startReplicas(options: ReplicaOptions = {}, values: Record<string, unknown> = {}): Promise<Replicas> {
    const installation = await this.install({ mode: 'split', ...values }, undefined, options.render);
    const replicas = await Replicas.start(this.cluster, installation, { seed: this.seed, ...options });
    this.#replicas.push(replicas);
    return replicas;
  }

  async startLoad(options: PodLoadOptions): Promise<PodLoad> {
    const load = await PodLoad.start(this.client, options);
    this.atEnd(() => load.stop());
    return load;
  }

  /** Registers a function to call when the scenario ends, even if it fails. */
  atEnd(end: () => unknown): void {
    this.#endings.push(end);
  }

  /** Starts to measure how long this machine stalls. */
  standstill(): Standstill {
    const standstill = startStandstill(this.cluster);
    this.atEnd(() => standstill.stop());
    return standstill;
  }

  /** Returns the end of each operator's log, without debug lines. */
  logTails(): string {
    const isWanted = (line: string) => !line.includes(' debug ');
    return this.#operators.map(({ process }) => process.logTail(25, isWanted)).join('\n');
  }

  /** Ends what the scenario runs beside the cluster; also called if the run is interrupted. */
  async end(): Promise<void> {
    await Promise.all(this.#endings.splice(0).map((end) => end()));
  }

  async finish(): Promise<void> {
    await this.end();
    await Promise.all(this.#replicas.map((each) => each.stop()));
    await Promise.all(this.#operators.map(({ process }) => process.kill()));
    // A real node ends with its control plane, and an operator that runs in it guards the objects.
    if (this.cluster.controlPlane?.sandbox !== undefined) return;
    const objects = this.#installations.flatMap((each) => each.objects);
    await cleanUp(this.client, objects);
  }

  get #operators() {
    return this.#installations.flatMap(({ operators }) => operators);
  }
}

export interface Scenario {
  name: string;
  about: string;
  /** Whether `make test` runs the scenario, because it takes seconds and often detects mistakes. */
  core?: boolean;
  /** The reason why no other scenario may run at the same time. */
  alone?: string;
  /** Whether the scenario runs after the queues, because it reads the rights that others used. */
  last?: boolean;
  /**
   * The reason why the scenario must not run on a shared cluster; on the user's own cluster, it
   * requires --destructive. Undefined if the scenario affects only its own namespaces.
   */
  destructive?: string;
  /** Whether the scenario gets its own control plane, for example because it kills components. */
  ownControlPlane?: boolean;
  /** Whether pods run on a real node, in a control plane of its own. Needs root and programs. */
  realNode?: boolean;
  /**
   * The full size and its duration in a few words: `1,000,000 malformed requests, 15 minutes`. If
   * set, `make gates` runs the scenario with `context.size` full.
   */
  full?: string;
  /** Whether the scenario runs only in `make gates` or by name: it needs tools or much time. */
  onlyGate?: boolean;
  run: (context: ScenarioContext) => Promise<string>;
}

/**
 * Removes a scenario's objects: first webhooks, because they block pods; then RevisionTags,
 * InjectorConfigs with their finalizers, cluster-scoped objects of the chart, and (in the
 * background) namespaces.
 */
async function cleanUp(client: ApiClient, chartObjects: KubernetesObject[]): Promise<void> {
  const ours = { labelSelector: `${labelNames.managedBy}=${managedBy}` };
  for (const kind of [webhooks, validatingWebhooks]) await removeAll(client, kind, ours);
  for (const kind of ['RevisionTag', 'InjectorConfig']) {
    await removeAll(client, resourceKind('sidecar-injector.io/v1alpha1', kind), {});
  }
  for (const object of chartObjects) {
    if (object.kind === 'CustomResourceDefinition' || object.metadata.namespace !== undefined) continue;
    await remove(client, object);
  }
  await removeAll(client, resourceKind('v1', 'Namespace'), { labelSelector: `${scenarioLabel}=true` });
}

async function removeAll(client: ApiClient, kind: ResourceKind, options: { labelSelector?: string }): Promise<void> {
  try {
    for (const object of (await client.listAll(kind, options)).items) await remove(client, object);
  } catch (error) {
    // The CRD may never have been installed.
    if (!isNotFound(error)) throw error;
  }
}

async function remove(client: ApiClient, object: KubernetesObject): Promise<void> {
  try {
    if ((object.metadata.finalizers ?? []).length > 0) {
      await client.patch(object, 'merge', { metadata: { finalizers: null } });
    }
    await client.delete(object, { propagationPolicy: 'Background' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
