import { commandLine } from '../../api/command-line.ts';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { podWebhooks } from '../../explain/pod-webhook.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { isConflict } from '../../kube/api-error.ts';
import { mutatingWebhooks, namespaces } from '../../operator/cluster-view.ts';
import { configurationKey } from '../../routing/route.ts';
import { apiServerMatcher, type Labels, requirementsOf } from '../../selection/label-selector.ts';
import { commandLineManager } from '../cluster-options.ts';
import { type Adoption, adoptionOf, labelsBefore, relabeling, reverterOf, withAdoption } from './adoption.ts';
import type { InjectorFacts } from './compare-injectors.ts';
import { istioWebhooks } from './incumbent-webhooks.ts';
import type { SamplePod } from './sample-pods.ts';

const options = { fieldManager: commandLineManager };

/** The rights of the user that `move` and `back` need, apart from reading. */
export const moveRights = [
  'list pods',
  'create pods',
  'patch namespaces',
  'list mutatingwebhookconfigurations.admissionregistration.k8s.io',
  'update mutatingwebhookconfigurations.admissionregistration.k8s.io',
];

/** A way to move the pods of a namespace: one that can be done, or why it cannot. */
export type Move =
  | { readonly what: string; readonly write: () => Promise<void>; readonly remarks: readonly string[] }
  | { readonly refusal: readonly string[] };

/** Plans to move a namespace by its labels, to a revision or tag that only our webhooks select. */
export function moveByLabel(
  client: ApiClient,
  namespace: KubernetesObject,
  facts: InjectorFacts,
  samples: readonly SamplePod[],
): Move {
  const { name = '', labels = {} } = namespace.metadata;
  if (!hasInjectionLabel(labels))
    return {
      refusal: [
        `namespace ${name}: its pods opt in themselves, so a label would inject others too: use --by selectors`,
      ],
    };
  const label = labelFor(labels, facts, samples);
  if (label === undefined) {
    const why = 'no RevisionTag with a name of its own publishes the configuration that its pods would get';
    return { refusal: [`namespace ${name}: ${why}; \`injector tag set NAME --revision REVISION\` creates one`] };
  }
  const reverter = reverterOf(namespace, [istioKeys.injection, istioKeys.revision]);
  const commit = `namespace ${name}: commit the labels too, or ${reverter ?? ''} reverts them`;
  return {
    what: `by label ${istioKeys.revision}=${label}`,
    write: () => patchNamespace(client, namespace, relabeling(namespace, label)),
    remarks: reverter === undefined ? [] : [`${commit}: \`${labelCommand(name, label)}\``],
  };
}

/** Plans to move a namespace by excluding it from the selectors of Istio's webhooks. */
export async function moveBySelectors(
  client: ApiClient,
  namespace: KubernetesObject,
  facts: InjectorFacts,
  samples: readonly SamplePod[],
): Promise<Move> {
  const { name = '', labels = {} } = namespace.metadata;
  const without = samples.find(({ ours }) => ours === undefined);
  if (without !== undefined)
    return {
      refusal: [
        `namespace ${name}: no webhook of ours selects new pods of ${without.workload}; run \`injector adopt standby\``,
      ],
    };
  const configurations = (await istioConfigurations(client)).filter((each) =>
    podWebhooks([each]).some(({ webhook }) => apiServerMatcher(webhook.namespaceSelector ?? {})(labels)),
  );
  for (const configuration of configurations) {
    const reverter = reverterOf(configuration, ['webhooks', 'namespaceSelector']);
    if (reverter === undefined) continue;
    const label = hasInjectionLabel(labels) ? labelFor(labels, facts, samples) : undefined;
    const expression = `!(request.namespace in ['${name}'])`;
    return {
      refusal: [
        `namespace ${name}: MutatingWebhookConfiguration ${configuration.metadata.name ?? ''} would be reverted by ${reverter}; nothing was changed`,
        ...(label === undefined ? [] : [`either label the namespace: \`${labelCommand(name, label)}\``]),
        `or commit to each of its webhooks: matchConditions: [{name: adopted, expression: "${expression}"}]`,
        `or, once every namespace is proven, leave out the webhook by the values of Istio's chart: ${valueWithoutWebhook}`,
      ],
    };
  }
  const write = async (): Promise<void> => {
    for (const each of configurations) {
      const { namespaces: before, isDeactivated } = adoptionOf(each);
      await replace(client, each, { isDeactivated, namespaces: [...before, name] });
    }
  };
  return { what: "by the selectors of Istio's webhooks", write, remarks: [] };
}

/** The value of Istio's chart that leaves out the mutating webhook. */
export const valueWithoutWebhook = 'global.operatorManageWebhooks=true';

/** The maximum number of attempts, if istiod or another client changes the object too. */
const attempts = 5;

/** Repeats an act that reads and writes, while another client writes in between. */
export async function despiteConflicts(act: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await act();
      return;
    } catch (error) {
      if (!isConflict(error) || attempt === attempts) throw error;
    }
  }
}

/** Gives a namespace back to Istio's injector: labels and selectors as they were. */
export function giveBack(client: ApiClient, name: string): Promise<void> {
  return despiteConflicts(() => restore(client, name));
}

async function restore(client: ApiClient, name: string): Promise<void> {
  for (const each of await istioConfigurations(client)) {
    const adoption = adoptionOf(each);
    if (!adoption.namespaces.includes(name)) continue;
    await replace(client, each, { ...adoption, namespaces: adoption.namespaces.filter((other) => other !== name) });
  }
  const namespace = await client.find(namespaces, name);
  const patch = namespace && labelsBefore(namespace);
  if (patch !== undefined) await patchNamespace(client, namespace as KubernetesObject, patch);
}

/** Returns the webhook configurations of Istio's injector. */
export async function istioConfigurations(client: Pick<ApiClient, 'listAll'>): Promise<KubernetesObject[]> {
  return (await client.listAll(mutatingWebhooks)).items.filter((each) => istioWebhooks([each]).length > 0);
}

/** Writes an adoption, unless another client has changed the object since it was read. */
export async function replace(client: ApiClient, configuration: KubernetesObject, adoption: Adoption): Promise<void> {
  await client.replace(withAdoption(configuration, adoption), options);
}

async function patchNamespace(client: ApiClient, namespace: KubernetesObject, metadata: object): Promise<void> {
  const { resourceVersion } = namespace.metadata;
  await client.patch(namespace, 'merge', { metadata: { ...metadata, resourceVersion } }, options);
}

/** Reports whether the labels of a namespace choose an injector for its pods. */
export function hasInjectionLabel(labels: Labels): boolean {
  return labels[istioKeys.injection] !== undefined || labels[istioKeys.revision] !== undefined;
}

function labelCommand(namespace: string, label: string): string {
  return commandLine`kubectl label namespace ${namespace} ${istioKeys.injection}- ${istioKeys.revision}=${label} --overwrite`;
}

/** Returns a revision or tag that only our webhooks select, and that gives the same sidecar. */
function labelFor(before: Labels, { ours, theirs }: InjectorFacts, samples: readonly SamplePod[]): string | undefined {
  const expected = new Set(samples.flatMap(({ ours: target }) => (target ? configurationKey(target) : [])));
  const values = ours.flatMap(({ webhook }) =>
    requirementsOf(webhook.namespaceSelector ?? {}).flatMap(({ key, operator, values: listed = [] }) =>
      key === istioKeys.revision && operator === 'In' ? listed : [],
    ),
  );
  return values.find((value) => {
    const labels = Object.fromEntries(
      Object.entries({ ...before, [istioKeys.revision]: value }).filter(([key]) => key !== istioKeys.injection),
    );
    const selects = ({ webhook }: (typeof ours)[number]): boolean =>
      apiServerMatcher(webhook.namespaceSelector ?? {})(labels);
    const target = ours.find(selects)?.target;
    const isSame = target !== undefined && [...expected].every((each) => each === configurationKey(target));
    return isSame && !theirs.some(selects);
  });
}
