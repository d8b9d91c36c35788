import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { objectNames, serviceHostName } from '../../../src/api/names.ts';
import type { ApiClient } from '../../../src/kube/api-client.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import type { AuditLog } from '../../harness/audit-log.ts';
import type { ControlPlane } from '../../harness/control-plane.ts';
import { dryRun } from '../../harness/admissions.ts';
import { applyObject } from '../../harness/apply.ts';
import type { FaultyProxy } from '../../harness/faulty-proxy/faulty-proxy.ts';
import { condition, injectorConfigs, type InjectorConfigObject } from '../../harness/injector-configs.ts';
import { markedConfig, marksOf } from '../../harness/load/marked-config.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { Standstill } from '../../harness/standstill/standstill.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { barePod } from '../../harness/workloads.ts';
import { postReview } from '../../harness/post-review.ts';

export const configName = 'faulty';
/** What reconverging may take after a fault, in milliseconds. */
const bound = 5000;

/** Replicas whose API server fails them, with one InjectorConfig that is edited at the worst moments. */
export class FaultyCluster {
  readonly context: ScenarioContext;
  readonly replicas: Replicas;
  readonly plane: ControlPlane;
  readonly proxy: FaultyProxy;
  readonly audit: AuditLog;
  /** Beside which reconverging is held to its bound. */
  readonly standstill: Standstill;
  /** Milliseconds from the end of a fault until all was as it should be, by fault. */
  readonly reconverged: Record<string, number> = {};
  readonly #namespace: string;
  #edits = 0;
  #generation = 0;

  constructor(context: ScenarioContext, replicas: Replicas, namespace: string) {
    const { controlPlane } = context.cluster;
    const audit = context.startAudit();
    if (controlPlane === undefined || audit === undefined || replicas.proxy === undefined) {
      throw new Error('this scenario needs the embedded control plane and a proxy before it');
    }
    this.context = context;
    this.replicas = replicas;
    this.plane = controlPlane;
    this.proxy = replicas.proxy;
    this.audit = audit;
    this.standstill = Standstill.start(context.cluster);
    context.atEnd(() => this.standstill.stop());
    this.#namespace = namespace;
  }

  /** Milliseconds for which a fault lasts. */
  lasting(short: number, full: number): number {
    return this.context.size === 'full' ? full : short;
  }

  /** Gives the InjectorConfig another mark, once the API server takes it. */
  async edit(): Promise<void> {
    const mark = `edit${++this.#edits}`;
    await waitFor('an edit to be stored', async () => {
      const { metadata } = await applyObject(this.context.client, markedConfig(configName, mark));
      this.#generation = metadata.generation ?? 0;
      return true;
    });
  }

  /** Waits until the last edit is Ready and published, and checks that this took no longer than it may since `since`. */
  async checkReconverged(fault: string, since: number): Promise<void> {
    const { client } = this.context;
    await waitFor(
      `the last edit to be published after ${fault}`,
      async () => {
        const config = await client.get<InjectorConfigObject>(injectorConfigs, configName);
        const ready = condition(config, 'Ready');
        if (ready?.status !== 'True' || (ready.observedGeneration ?? 0) < this.#generation) {
          throw new Error(`it says ${JSON.stringify(config.status?.conditions)}`);
        }
        const { marks } = marksOf(await dryRun(client, barePod(this.#namespace, 'probe')));
        return marks.join() === `edit${this.#edits}`;
      },
      { timeout: 60_000 },
    );
    const took = Math.max(0, Date.now() - since);
    const still = await this.standstill.between(since, since + took);
    this.reconverged[fault] = took;
    await this.context.checkNow(`${fault}: reconverged ${took} ms later`, () => took <= bound + still);
  }

  /** Checks that every webhook replica injects, asked directly. */
  async checkInjecting(direct: DirectAdmission, fault: string): Promise<void> {
    await this.context.check(`${fault}: every replica injects, from memory`, async () => {
      const answers = await Promise.all(
        this.replicas.webhooks.map(({ operator }) => direct.injects(operator.webhookPort)),
      );
      return answers.every(Boolean);
    });
  }

  /** What to ask replicas directly, as the webhook configuration says now. */
  prepareDirect(): Promise<DirectAdmission> {
    return DirectAdmission.prepare(this.context.client, configName, this.replicas.installation.namespace);
  }

  /** How many watches of our processes have ended for a reason so far. */
  async watchesEnded(reason: string): Promise<number> {
    const texts = await Promise.all(this.replicas.all.map(({ operator }) => operator.metrics()));
    const pattern = new RegExp(`^injector_watch_ends_total\\{.*reason="${reason}".*\\} (\\d+)$`, 'gm');
    return texts.flatMap((text) => [...text.matchAll(pattern)]).reduce((sum, [, count]) => sum + Number(count), 0);
  }
}

interface WebhookConfiguration extends KubernetesObject {
  webhooks: { clientConfig: { caBundle: string; service?: { path: string } } }[];
}

/** Asks replicas for a pod's admission without the API server, as it would ask: what its webhook configuration said last, by TLS, by name. */
export class DirectAdmission {
  readonly #target: { path: string; serverName: string; authority: string };

  private constructor(target: { path: string; serverName: string; authority: string }) {
    this.#target = target;
  }

  /** @param namespace the operator's own */
  static async prepare(client: ApiClient, injectorConfig: string, namespace: string): Promise<DirectAdmission> {
    const names = objectNames(injectorConfig);
    const kind = resourceKind('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration');
    const { webhooks } = await client.get<WebhookConfiguration>(kind, names.webhookConfiguration);
    const { caBundle = '', service } = webhooks[0]?.clientConfig ?? {};
    return new DirectAdmission({
      path: service?.path ?? '',
      serverName: serviceHostName(names.service, namespace),
      authority: Buffer.from(caBundle, 'base64').toString('utf8'),
    });
  }

  /** Whether the process on a port injects a pod. */
  async injects(port: number): Promise<boolean> {
    const uid = `direct-${port}`;
    const request = {
      uid,
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      namespace: 'direct',
      operation: 'CREATE',
      object: barePod('direct', 'pod'),
    };
    const body = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request });
    const { review } = await postReview({ ...this.#target, port }, body);
    return review?.response?.uid === uid && review.response.allowed && review.response.patch !== undefined;
  }
}
