import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { follow } from '../../harness/follow.ts';
import { isReady, type Pod } from '../../harness/pod.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';

export const endpointSlices = {
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
};

export interface EndpointSlice extends KubernetesObject {
  readonly endpoints?: readonly {
    readonly conditions: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean };
    readonly targetRef?: { readonly name?: string };
  }[];
}

/** Records what the API server says about the replicas, to explain a creation that failed. */
export class ReplicaTimeline {
  readonly #changes: { readonly at: number; readonly line: string }[] = [];
  readonly #last = new Map<string, string>();

  /** Records the pods of a namespace and the endpoints of a Service until the scenario ends. */
  static async start(context: ScenarioContext, namespace: string, service: string): Promise<ReplicaTimeline> {
    const timeline = new ReplicaTimeline();
    await follow(context, endpointSlices, { namespace }, (slice, gone) => {
      const { name = '', labels } = slice.metadata;
      if (labels?.['kubernetes.io/service-name'] === service) timeline.#see(name, gone ? 'gone' : describeSlice(slice));
    });
    await follow(context, resourceKind('v1', 'Pod'), { namespace }, (pod, gone) =>
      timeline.#see(pod.metadata.name ?? '', gone ? 'gone' : describePod(pod as Pod)),
    );
    return timeline;
  }

  /** Returns a line for each change since a time, with the seconds after it. */
  since(time: number): string[] {
    return this.#changes
      .filter(({ at }) => at >= time)
      .map(({ at, line }) => `${((at - time) / 1000).toFixed(1)} s: ${line}`);
  }

  #see(what: string, state: string): void {
    if (this.#last.get(what) === state) return;
    this.#last.set(what, state);
    this.#changes.push({ at: Date.now(), line: `${what}: ${state}` });
  }
}

function describeSlice({ endpoints = [] }: EndpointSlice): string {
  const states = endpoints.map(({ conditions: { ready, serving, terminating }, targetRef }) => {
    const words = [ready ? 'ready' : 'not ready', serving ? 'serving' : 'not serving'];
    return [targetRef?.name, ...words, ...(terminating === true ? ['terminating'] : [])].join(' ');
  });
  return states.length === 0 ? 'no endpoints' : states.join(', ');
}

function describePod(pod: Pod): string {
  return [
    isReady(pod) ? 'ready' : 'not ready',
    ...(pod.metadata.deletionTimestamp === undefined ? [] : ['being deleted']),
  ].join(', ');
}
