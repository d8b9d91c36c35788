import { originalAnnotation } from '../api/names.ts';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { objectAt } from '../inject/objects/workload-kinds.ts';
import { injectionRecords } from '../inject/pod/injection-records.ts';
import { injectionStatus } from '../inject/pod/injection-status.ts';
import { changedPaths } from './pod-changes.ts';
import { asAdmitted, type CreationContext, isGenerated, type NamedInjector, predictPod } from './predict-pod.ts';
import { injectedByOf, type OtherInjectorFinding } from './stored-pod.ts';
import { type LostField, uninjectPod } from './uninject.ts';

/** Returns the status annotation of a pod that another injector injected; else undefined. */
export function otherInjectorStatus(pod: KubernetesObject, statusKey: string): string | undefined {
  return injectedByOf(pod).length > 0 ? undefined : pod.metadata.annotations?.[statusKey];
}

/**
 * Compares a pod of another injector with the pod that a configuration of ours would make of it.
 * Both injectors are assumed to have the same templates, so the result is exact for an adopted
 * configuration. A label or annotation that only the other one's templates write is not noticed.
 * @param ours the configuration; or why it is not known
 * @param status the status annotation of the pod
 */
export function compareWithOurs(
  stored: KubernetesObject,
  status: string,
  ours: NamedInjector | { readonly unavailable: string },
  context: CreationContext,
): OtherInjectorFinding {
  const revision = injectionStatus(status)?.revision ?? '';
  const found = (result: OtherInjectorFinding['result'], why = ''): OtherInjectorFinding => ({ revision, result, why });
  if ('unavailable' in ours) return found('NotCompared', ours.unavailable);
  const admitted = asAdmitted(stored);
  const { pod: bare, lost } = uninjectPod(admitted, { injector: ours.injector, request: context.request });
  const { outcome, message, pod: made } = predictPod(bare, ours, context);
  if (made === undefined) return found('Different', `a new pod would be refused: ${message}`);
  if (outcome === 'NotInjected') return found('Different', `a new pod would not be injected: ${message}`);
  const same = { injector: ours.injector };
  const records = injectionRecords({ pod: admitted, ...same }, { pod: made, ...same });
  const hidden = new Set(records.map(([map, key]) => `metadata.${map}["${key}"]`)).add(originalRecord);
  const paths = changedPaths(made, admitted).filter((path) => !hidden.has(path) && !isGenerated(path));
  // Volumes of the other injector that ours does not add look like the author's.
  const key = ours.injector.family.keys.status;
  const added = String(objectAt(made, ['metadata', 'annotations'])[key]);
  if (withoutRevision(added) !== withoutRevision(status)) paths.push(`metadata.annotations["${key}"]`);
  if (paths.length === 0) return found('Identical');
  const unknown = lost.filter((each) => paths.some((path) => isLost(path, each)));
  const isUnknown = paths.every((path) => unknown.some((each) => isLost(path, each)));
  if (isUnknown) return found('NotCompared', unknown.map(({ field, reason }) => `${field}: ${reason}`).join('; '));
  const more = paths.length > mostPaths ? ` and ${paths.length - mostPaths} more` : '';
  return found('Different', `a new pod differs in ${paths.slice(0, mostPaths).join(', ')}${more}`);
}

const originalRecord = `metadata.annotations["${originalAnnotation}"]`;

function withoutRevision(status: string): string {
  return status.replace(/,"revision":"[^"]*"/, '');
}

/** The maximum number of differing fields that a message names. */
const mostPaths = 3;

/** Lost fields are named as if all containers stood in one list. `*` stands for any end. */
function isLost(path: string, { field }: LostField): boolean {
  const named = path.replace('initContainers', 'containers');
  return field.endsWith('*') ? named.startsWith(field.slice(0, -1)) : named === field || named.startsWith(`${field}.`);
}
