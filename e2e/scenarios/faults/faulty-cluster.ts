import { dryRun } from '../../harness/admissions.ts';
import { applyObject } from '../../harness/apply.ts';
import type { AuditLog } from '../../harness/audit-log.ts';
import type { ControlPlane } from '../../harness/control-plane.ts';
import type { FaultyProxy } from '../../harness/faulty-proxy/faulty-proxy.ts';
import { condition, injectorConfigs, type InjectorConfigObject } from '../../harness/injector-configs.ts';
import { markedConfig, marksOf } from '../../harness/load/marked-config.ts';
import { podReview, postReview, type ReviewTarget } from '../../harness/post-review.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import type { Standstill } from '../../harness/standstill/standstill.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { reviewTarget } from '../../harness/webhook-configurations.ts';
import { barePod } from '../../harness/workloads.ts';

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
    if (controlPlane === undefined || audit === undefined) {
      throw new Error('this scenario needs the embedded control plane and a proxy before it');
    }
    this.context = context;
    this.replicas = replicas;
    this.plane = controlPlane;
    this.proxy = replicas.proxy;
    this.audit = audit;
    this.standstill = context.standstill();
    this.#namespace = namespace;
  }

  lasting(short: number, full: number): number {
    return this.context.size === 'full' ? full : short;
  }

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
    await waitFor(`the last edit to be published after ${fault}`, async () => {
      const config = await client.get<InjectorConfigObject>(injectorConfigs, configName);
      const ready = condition(config, 'Ready');
      if (ready?.status !== 'True' || (ready.observedGeneration ?? 0) < this.#generation) {
        throw new Error(`it says ${JSON.stringify(config.status?.conditions)}`);
      }
      const { marks } = marksOf(await dryRun(client, barePod(this.#namespace, 'probe')));
      return marks.join() === `edit${this.#edits}`;
    });
    const took = Math.max(0, Date.now() - since);
    const still = await this.standstill.between(since, since + took);
    this.reconverged[fault] = took;
    await this.context.checkNow(`${fault}: reconverged ${took} ms later`, () => took <= bound + still);
  }

  async checkInjecting(direct: ReviewTarget, fault: string): Promise<void> {
    await this.context.check(`${fault}: every replica injects, from memory`, async () => {
      const answers = await Promise.all(
        this.replicas.webhooks.map(({ operator }) => injects({ ...direct, port: operator.webhookPort })),
      );
      return answers.every(Boolean);
    });
  }

  prepareDirect(): Promise<ReviewTarget> {
    return reviewTarget(this.context.client, configName, this.replicas.installation.namespace);
  }

  async watchesEnded(reason: string): Promise<number> {
    const texts = await Promise.all(this.replicas.all.map(({ operator }) => operator.metrics()));
    const pattern = new RegExp(`^injector_watch_ends_total\\{.*reason="${reason}".*\\} (\\d+)$`, 'gm');
    return texts.flatMap((text) => [...text.matchAll(pattern)]).reduce((sum, [, count]) => sum + Number(count), 0);
  }
}

/** Whether a replica injects a pod when it is asked without the API server. */
async function injects(target: ReviewTarget): Promise<boolean> {
  const uid = `direct-${target.port}`;
  const { review } = await postReview(target, podReview(uid));
  return review?.response?.uid === uid && review.response.allowed && review.response.patch !== undefined;
}
