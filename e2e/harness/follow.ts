import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import type { ResourceKind } from '../../src/kube/resource-kinds.ts';
import type { ScenarioContext } from './scenario-context.ts';

/** Calls `see` for each existing object and for each later version, until the scenario ends. */
export async function follow(
  context: ScenarioContext,
  kind: ResourceKind,
  selected: { namespace?: string; fieldSelector?: string },
  see: (object: KubernetesObject, gone: boolean) => void,
) {
  const { client } = context;
  const ending = new AbortController();
  const { signal } = ending;
  const { items, resourceVersion: from } = await client.listAll(kind, selected);
  for (const object of items) see(object, false);
  let failure: unknown;
  const watch = async () => {
    let resourceVersion = from;
    // If the API server ends the watch or is unavailable, continue from the last seen version.
    while (!signal.aborted && failure === undefined) {
      try {
        for await (const { type, object } of client.watch(kind, { ...selected, resourceVersion, signal })) {
          resourceVersion = object.metadata.resourceVersion ?? resourceVersion;
          if (type !== 'BOOKMARK') see(object, type === 'DELETED');
        }
      } catch (error) {
        if (error instanceof ApiError) failure = error;
        else await sleep(100);
      }
    }
  };
  const running = watch();
  const stop = async () => {
    ending.abort();
    await running;
  };
  context.atEnd(stop);
  /** Returns the error that ended the watch early, after which versions may be missing. */
  const ended = () => failure;
  return { failure: ended, stop };
}

export type Following = Awaited<ReturnType<typeof follow>>;
