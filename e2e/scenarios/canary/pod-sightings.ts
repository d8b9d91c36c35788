import type { Condition } from '../../../src/api/kubernetes/kubernetes.ts';
import { podCreations } from '../../harness/admissions.ts';
import type { AuditEvent, AuditLog } from '../../harness/audit-log.ts';
import { makerOf, markDefect } from '../../harness/load/marked-config.ts';
import { refusedCreations } from '../../harness/lost-admissions.ts';
import type { Pod } from '../../harness/pod.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { podsOf } from '../../harness/workloads.ts';

export interface Sighting {
  readonly uid: string;
  readonly name: string;
  readonly workload: string;
  readonly maker: string;
  /** The creation time in milliseconds since 1970; Kubernetes records whole seconds only. */
  readonly created: number;
  /** When the pod became ready (ms since 1970); undefined if the pod was never seen ready. */
  readyAt: number | undefined;
}

/** Records the pods of a namespace, in which marked InjectorConfigs should inject every pod. */
export class PodSightings {
  readonly namespace: string;
  readonly #client: ScenarioContext['client'];
  readonly #audit: AuditLog;
  readonly #seen = new Map<string, Sighting>();
  readonly #defects: string[] = [];

  constructor(client: ScenarioContext['client'], audit: AuditLog, namespace: string) {
    this.#client = client;
    this.#audit = audit;
    this.namespace = namespace;
  }

  /** Returns the current pods that are not being deleted. */
  async look(): Promise<Pod[]> {
    const all = await podsOf(this.#client, this.namespace);
    for (const pod of all) {
      const { uid = '', name = '', creationTimestamp = '' } = pod.metadata;
      const known = this.#seen.get(uid);
      if (known !== undefined) {
        known.readyAt ??= readyAt(pod);
        continue;
      }
      const created = Date.parse(creationTimestamp);
      const maker = makerOf(pod);
      this.#seen.set(uid, { uid, name, workload: workloadOf(pod), maker, created, readyAt: readyAt(pod) });
      const defect = markDefect(pod);
      if (defect !== undefined) this.#defects.push(`pod ${this.namespace}/${name}: ${defect.what}`);
    }
    return all.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  get seen(): readonly Sighting[] {
    return [...this.#seen.values()];
  }

  async delete(pods: readonly Pod[]): Promise<void> {
    const remove = (pod: Pod) => this.#client.delete({ ...pod, apiVersion: 'v1', kind: 'Pod' }).catch(() => undefined);
    await Promise.all(pods.map(remove));
  }

  /**
   * Returns the Deployments with a pod that InjectorConfig `to` injected in a later second than
   * `from` injected another pod.
   * @param within counts only pods created in this interval, in milliseconds since 1970
   */
  flippedBack(
    from: string,
    to: string,
    { since = -Infinity, until = Infinity }: { readonly since?: number; readonly until?: number } = {},
  ): string[] {
    const counting = this.seen.filter(({ created }) => created >= since && created < until);
    const first = new Map<string, number>();
    for (const { workload, maker, created } of counting) {
      if (maker === from) first.set(workload, Math.min(created, first.get(workload) ?? Infinity));
    }
    const flipped = counting.filter(
      ({ workload, maker, created }) => maker === to && created > (first.get(workload) ?? Infinity),
    );
    return [...new Set(flipped.map(({ workload }) => workload))];
  }

  /** Returns when Deployments first had a ready pod that `maker` injected after `since`. */
  readySince(maker: string, since: number): Map<string, number> {
    const ready = new Map<string, number>();
    const reported = this.reported();
    for (const pod of this.#madeBy(maker, since)) {
      const at = pod.readyAt ?? (reported.has(pod.name) ? pod.created : Infinity);
      ready.set(pod.workload, Math.min(at, ready.get(pod.workload) ?? Infinity));
    }
    return ready;
  }

  /** Returns the Deployments with a pod that `maker` injected between two times (ms since 1970). */
  gotBetween(maker: string, since: number, until: number): string[] {
    const made = this.#madeBy(maker, since).filter(({ created }) => created < until);
    return [...new Set(made.map(({ workload }) => workload))];
  }

  #madeBy(maker: string, since: number): Sighting[] {
    return this.seen.filter((pod) => pod.maker === maker && pod.created >= since);
  }

  /** Returns the lost pods (refused, not injected, or mixed) and the number of created pods. */
  lost(): { readonly created: number; readonly lost: readonly string[] } {
    const refused = refusedCreations(this.#creations()).map(({ description }) => description);
    return { created: this.madeAt().length, lost: [...refused, ...this.#defects] };
  }

  /** Returns the request times of all stored pods, in milliseconds since 1970. */
  madeAt(): number[] {
    return this.#creations()
      .filter(({ responseStatus }) => responseStatus?.code === 201)
      .map(({ requestReceivedTimestamp }) => Date.parse(requestReceivedTimestamp));
  }

  /** Returns the names of pods whose status a kubelet wrote, including pods deleted later. */
  reported(): Set<string> {
    const writes = this.#audit.events().filter(({ verb, objectRef, responseStatus }) => {
      const isOurs = objectRef?.namespace === this.namespace && objectRef.resource === 'pods';
      return isOurs && objectRef.subresource === 'status' && verb === 'patch' && (responseStatus?.code ?? 0) < 300;
    });
    return new Set(writes.flatMap(({ objectRef }) => objectRef?.name ?? []));
  }

  #creations(): AuditEvent[] {
    return podCreations(this.#audit.events(), this.namespace);
  }
}

/** Returns the Deployment of a pod; requires the label that `deployment()` sets. */
export function workloadOf(pod: Pod): string {
  return pod.metadata.labels?.['app'] ?? '';
}

/** Returns the InjectorConfigs that injected the pods, by Deployment. */
export function makersOf(pods: readonly Pod[]): Map<string, Set<string>> {
  const makers = new Map<string, Set<string>>();
  for (const pod of pods) {
    const name = workloadOf(pod);
    makers.set(name, (makers.get(name) ?? new Set()).add(makerOf(pod)));
  }
  return makers;
}

/** Returns when a pod became ready, in milliseconds since 1970; undefined if it is not ready. */
export function readyAt(pod: Pod): number | undefined {
  return readiness(pod)?.status === 'True' ? readinessSince(pod) : undefined;
}

/** Returns when a pod's readiness last changed (ms since 1970); undefined if it has no status. */
export function readinessSince(pod: Pod): number | undefined {
  const { lastTransitionTime } = readiness(pod) ?? {};
  return lastTransitionTime === undefined ? undefined : Date.parse(lastTransitionTime);
}

function readiness(pod: Pod): Condition | undefined {
  const { conditions = [] } = (pod as { status?: { conditions?: unknown } }).status ?? {};
  return (conditions as Condition[]).find(({ type }) => type === 'Ready');
}
