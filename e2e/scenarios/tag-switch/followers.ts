import type { AuditLog } from '../../harness/audit-log.ts';
import { dryRun } from '../../harness/admissions.ts';
import { found, waitFor } from '../../harness/wait-for.ts';
import { Losses } from '../../harness/load/losses.ts';
import { markDefect, marksOf } from '../../harness/load/marked-config.ts';
import type { PodLoad } from '../../harness/load/pod-load.ts';
import type { PodDefect } from '../../harness/lost-admissions.ts';
import type { Pod } from '../../harness/pod.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod } from '../../harness/workloads.ts';

/** What a pod shows: the InjectorConfig of its annotation, and the mark of all its parts. */
interface Shown {
  readonly injectorConfig: string;
  readonly mark: string;
}

/** A namespace in which pods are created all along: what they got, and what was lost. */
export class Follower {
  readonly namespace: string;
  readonly #context: ScenarioContext;
  readonly #shown = new Map<string, Shown>();
  /** The mark that each configuration has; whatever shows another was made of two. */
  readonly #marks = new Map<string, string>();
  #load: PodLoad | undefined;
  #losses: Losses | undefined;

  private constructor(context: ScenarioContext, namespace: string) {
    this.#context = context;
    this.namespace = namespace;
  }

  /** Makes the namespace and begins to create pods in it. */
  static async start(
    context: ScenarioContext,
    audit: AuditLog,
    name: string,
    labels: Record<string, string>,
    perSecond: number,
  ): Promise<Follower> {
    const follower = new Follower(context, await context.namespace(name, labels));
    const { namespace } = follower;
    const inspect = (pod: Pod): PodDefect | undefined => follower.#inspect(pod);
    follower.#load = await context.startLoad({ namespace, perSecond, replicaSetPods: 3, inspect });
    follower.#losses = new Losses(context, follower.#load, audit);
    return follower;
  }

  get losses(): Losses {
    if (this.#losses === undefined) throw new Error(`nothing is created in ${this.namespace} yet`);
    return this.#losses;
  }

  async stop(): Promise<void> {
    await this.#load?.stop();
  }

  /** Waits until a pod of this moment is made by an InjectorConfig; returns the time from when on all must be (milliseconds since 1970). */
  async waitFor(injectorConfig: string): Promise<number> {
    const { client } = this.#context;
    await waitFor(
      `pods of ${this.namespace} to be made by ${injectorConfig}`,
      async () => found(shownBy(await dryRun(client, barePod(this.namespace, 'probe'))).injectorConfig, injectorConfig),
      { interval: 10 },
    );
    return Date.now();
  }

  /** Checks that a switch lost nothing, and that every pod that was asked for after it is wholly of the new configuration. */
  async checkSwitched(statement: string, injectorConfig: string, began: number): Promise<number> {
    const from = await this.waitFor(injectorConfig);
    const created = await this.losses.checkNone(statement, began);
    const since = await waitFor(`pods of ${this.namespace} to be created after the switch`, () => {
      const names = this.#since(from);
      return names.length >= 20 && names;
    });
    const other = since.filter((name) => this.#shown.get(name)?.injectorConfig !== injectorConfig);
    await this.#context.checkNow(
      `and each of the ${since.length} that were asked for afterwards is made by ${injectorConfig}, ${from - began} ms after it was asked for`,
      () => found(other.join(), ''),
    );
    return created;
  }

  /** Which InjectorConfigs have made pods since a time. */
  makersSince(time: number): string[] {
    return [...new Set(this.#since(time).map((name) => this.#shown.get(name)?.injectorConfig ?? 'none'))].sort();
  }

  #since(time: number): string[] {
    const { creations = [] } = this.#load ?? {};
    return creations
      .filter(({ startedAt, failure }) => startedAt > time && failure === undefined)
      .map(({ name }) => name);
  }

  #inspect(pod: Pod): PodDefect | undefined {
    const shown = shownBy(pod);
    this.#shown.set(pod.metadata.name ?? '', shown);
    const defect = markDefect(pod);
    if (defect !== undefined) return defect;
    const { configuration = 'none' } = marksOf(pod);
    const before = this.#marks.get(configuration);
    this.#marks.set(configuration, shown.mark);
    if (before === undefined || before === shown.mark) return undefined;
    return { kind: 'mixed', what: `configuration ${configuration} showed ${before} and shows ${shown.mark}` };
  }
}

function shownBy(pod: Pod): Shown {
  const { marks, configuration = 'none.' } = marksOf(pod);
  return { injectorConfig: configuration.split('.')[0] ?? 'none', mark: marks.join(' and ') };
}
