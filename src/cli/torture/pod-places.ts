import { namespaceNameLabel } from '../../api/kubernetes/system-namespaces.ts';
import type { MutatingWebhook } from '../../explain/pod-webhook.ts';
import { type Labels, labelsFor, unmetRequirements } from '../../selection/label-selector.ts';

/** Where to create a pod: the labels of its namespace, and those that the pod gets. */
export interface PodPlace {
  readonly namespace: Labels;
  readonly pod: Labels;
}

/** A place that one of the webhooks selects, and one that none of them selects. */
export interface PodPlaces {
  readonly webhook: MutatingWebhook;
  readonly injected: PodPlace;
  readonly bare: PodPlace;
}

/**
 * Chooses labels for the two namespaces of the suite and for their pods.
 * @param names the names of the namespaces, which the API server adds as a label
 * @returns what is impossible, as a text, if there are no such labels
 */
export function podPlaces(
  webhooks: readonly MutatingWebhook[],
  names: { readonly injected: string; readonly bare: string },
): PodPlaces | string {
  const fixed = (name: string): Labels => ({ [namespaceNameLabel]: name });
  const selects = ({ namespaceSelector = {}, objectSelector = {} }: MutatingWebhook, place: PodPlace): boolean =>
    unmetRequirements(namespaceSelector, { ...fixed(names.bare), ...place.namespace }).length === 0 &&
    unmetRequirements(objectSelector, place.pod).length === 0;
  const chosen = webhooks.flatMap((webhook) => {
    const namespace = labelsFor(webhook.namespaceSelector ?? {}, true, fixed(names.injected));
    const pod = labelsFor(webhook.objectSelector ?? {}, true);
    return namespace === undefined || pod === undefined ? [] : [{ webhook, injected: { namespace, pod } }];
  })[0];
  if (chosen === undefined) return 'selects no pod of a new namespace';
  const outside = (selector: 'namespaceSelector' | 'objectSelector', own: Labels): Labels[] => [
    {},
    ...webhooks.map((webhook) => labelsFor(webhook[selector] ?? {}, false, own)).filter((each) => each !== undefined),
  ];
  const places = outside('namespaceSelector', fixed(names.bare)).flatMap((namespace) =>
    outside('objectSelector', {}).map((pod) => ({ namespace, pod })),
  );
  const bare = places.find((place) => !webhooks.some((webhook) => selects(webhook, place)));
  return bare === undefined ? 'selects every pod, so there is nothing to compare with' : { ...chosen, bare };
}
