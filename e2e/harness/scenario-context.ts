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
  /** `short` in `make test`: seconds. `full` in `make gates`: minutes, for the scenarios that have a full size. */
  size: 'short' | 'full';
  /** Where random choices start from: the same seed makes the same choices. */
  seed: number;
}

/** What a scenario works with: a cluster, a place for its checks, and the traces to remove. */
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
  /** What docs/measurements keeps of a full run, beside its last line. */
  figures: Figures = {};

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

  /** What the API server has recorded from now on; undefined on a cluster of the user's own, whose log we cannot read. */
  startAudit(): AuditLog | undefined {
    const file = this.cluster.controlPlane?.auditLog;
    return file === undefined ? undefined : new AuditLog(file);
  }

  requireAudit(): AuditLog {
    const audit = this.startAudit();
    if (audit === undefined) throw new Error('this scenario needs the audit log of the embedded control plane');
    return audit;
  }

  /** Takes note of what the processes of this scenario have asked for since the log was opened. */
  collectRights(audit: AuditLog | undefined): void {
    const events = this.#settled(audit);
    for (const installation of this.#installations) this.rights.collect(installation, events);
  }

  /** What was recorded while the API server was not just starting. */
  #settled(audit: AuditLog | undefined): AuditEvent[] {
    const starts = this.cluster.controlPlane?.starts ?? [];
    return (audit?.events() ?? []).filter(({ stageTimestamp, userAgent = '' }) => {
      const time = Date.parse(stageTimestamp);
      // Some scenarios act with a token of the operator themselves.
      return !userAgent.startsWith('e2e-') && !starts.some(({ from, until }) => time >= from && time <= until);
    });
  }

  /** Checks what holds for every scenario: the chart's rights were all that the operator asked for. */
  async checkRights(audit: AuditLog | undefined): Promise<void> {
    const users = new Set(this.#installations.flatMap(({ usernames }) => usernames));
    if (audit === undefined || users.size === 0) return;
    const refused = this.#settled(audit)
      .filter(({ user, responseStatus }) => users.has(user.username) && responseStatus?.code === 403)
      .filter(({ responseStatus }) => responseStatus?.message?.includes(' cannot ') === true);
    const distinct = new Set(refused.map(describeEvent));
    await this.checkNow("the operator asked for nothing that the chart's roles do not allow", () =>
      found([...distinct].join('; '), ''),
    );
  }

  /** Adds figures; later ones with the same name replace earlier ones. */
  measured(figures: Figures): void {
    this.figures = { ...this.figures, ...figures };
  }

  say(line: string): void {
    this.#report(`      ${line}`);
  }

  /**
   * Waits until a statement holds, prints and counts it.
   *
   * @param statement reads as a fact: `an injected pod stays when the InjectorConfig goes`
   * @param probe answers whether it holds; what it throws is "not yet", and the reason at the deadline
   */
  async check<Value>(statement: string, probe: Probe<Value>, options: WaitOptions = {}): Promise<Value> {
    const started = Date.now();
    const value = await waitFor(`this to hold: ${statement}`, probe, options);
    this.passed++;
    this.#report(`  ok  ${statement} (${Date.now() - started} ms)`);
    return value;
  }

  async checkNow<Value>(statement: string, probe: Probe<Value>): Promise<Value> {
    return await this.check(statement, probe, { timeout: 0 });
  }

  /** Creates a namespace of this scenario; its name is prefixed with the scenario's. */
  async namespace(suffix: string, labels: Record<string, string> = {}): Promise<string> {
    const name = `${this.name}-${suffix}`;
    await createNamespace(this.client, name, labels);
    return name;
  }

  /** Installs the chart into a namespace of this scenario; everything in one process unless told. */
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

  /** Installs the chart and starts everything in one process, which is ready when this resolves. */
  async startOperator(): Promise<OperatorProcess> {
    return (await this.install()).startOperator();
  }

  /** Only the embedded one can be stopped in parts. */
  requireControlPlane(): ControlPlane {
    const { controlPlane } = this.cluster;
    if (controlPlane === undefined) throw new Error('this scenario needs the embedded control plane');
    return controlPlane;
  }

  /**
   * Installs the chart as it is made for production and starts its processes behind a balancer: three webhook replicas and two controllers unless told.
   * All are ready and in rotation when this resolves.
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

  /** Has something ended with the scenario, also with one that fails. */
  atEnd(end: () => unknown): void {
    this.#endings.push(end);
  }

  /** Begins to look for how long this machine stands still. */
  standstill(): Standstill {
    const standstill = startStandstill(this.cluster);
    this.atEnd(() => standstill.stop());
    return standstill;
  }

  /** The end of each operator's log without what only debugging needs, for a scenario that failed. */
  logTails(): string {
    const isWanted = (line: string) => !line.includes(' debug ');
    return this.#operators.map(({ process }) => process.logTail(25, isWanted)).join('\n');
  }

  async finish(): Promise<void> {
    await Promise.all(this.#endings.map((end) => end()));
    await Promise.all(this.#replicas.map((each) => each.stop()));
    await Promise.all(this.#operators.map(({ process }) => process.kill()));
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
  /** `make test` runs it: what a contributor breaks first, in seconds. All the others run in `make test-all`. */
  core?: boolean;
  /** Another scenario may run beside it: it asserts neither milliseconds nor what a kill costs. */
  paired?: boolean;
  /**
   * Why it must not run on a cluster that others use; such a scenario refuses to run on the user's own cluster unless told.
   * Undefined for scenarios that touch nothing but their own namespaces.
   */
  destructive?: string;
  /** It stops or kills parts of the control plane: it gets one of its own. */
  ownControlPlane?: boolean;
  /**
   * What `--full` makes of it, in a few words with its size and time: `1,000,000 malformed requests, 15 minutes`. A scenario that has this is a gate of `make gates`
   * and reads `context.size`; undefined when there is one size only.
   */
  full?: string;
  /** Runs in `make gates` or by its name only: it needs something that a clone may lack. */
  onlyGate?: boolean;
  run: (context: ScenarioContext) => Promise<string>;
}

/**
 * Removes what a scenario has made: webhooks first, since they block pods; RevisionTags; InjectorConfigs, also when no operator is left to remove their
 * finalizer; the chart's objects at cluster scope; namespaces, in the background.
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
