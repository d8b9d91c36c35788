import { startForeignWebhooks } from '../../harness/foreign-webhooks.ts';
import type { Pod } from '../../harness/pod.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';

/** The label of namespaces whose pods the other webhooks change. */
export const foreignLabel = 'e2e.sidecar-injector.io/foreign';

/**
 * Serves a webhook of another product, once before and once after ours. It adds a label, and after
 * ours also a variable to every container, the sidecar included.
 */
export function startForeignWebhook(context: ScenarioContext): Promise<void> {
  const namespaceLabels = { [foreignLabel]: 'true' };
  return startForeignWebhooks(context, [
    { name: 'aa-foreign', namespaceLabels, patch: () => [label('before')] },
    { name: 'zz-foreign', namespaceLabels, patch: (pod) => [label('after'), ...variables(pod)] },
  ]);
}

function label(name: string): object {
  return { op: 'add', path: `/metadata/labels/${name}`, value: 'yes' };
}

function variables({ spec }: Pod): object[] {
  const team = { name: 'TEAM', value: 'x' };
  const lists = spec as unknown as Record<string, { env?: unknown }[] | undefined>;
  return ['containers', 'initContainers'].flatMap((list) =>
    (lists[list] ?? []).map(({ env }, index) =>
      env === undefined
        ? { op: 'add', path: `/spec/${list}/${index}/env`, value: [team] }
        : { op: 'add', path: `/spec/${list}/${index}/env/-`, value: team },
    ),
  );
}
