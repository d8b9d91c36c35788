import { injectedByAnnotation } from '../../api/names.ts';
import type { Injector } from '../injector.ts';
import { objectAt } from '../objects/workload-kinds.ts';
import type { JsonObject } from '../patch/json-value.ts';

/** The key of a label or annotation. */
type MetadataKey = readonly ['labels' | 'annotations', string];

/**
 * Returns the labels and annotations of two pods that only record which injector injected them: the
 * annotation with the configuration, the status annotation, and the revision label or annotation
 * of the family if each pod has its injector's own revision there.
 * @param pods two pods, and the injector that may have injected each
 */
export function injectionRecords(
  ...pods: readonly { readonly pod: JsonObject; readonly injector: Pick<Injector, 'family' | 'settings'> }[]
): MetadataKey[] {
  const keys = pods.map(({ injector }) => injector.family.keys);
  const isOwn = ([map, key]: MetadataKey): boolean =>
    pods.every(({ pod, injector }) => objectAt(pod, ['metadata', map])[key] === injector.settings.revision);
  return [
    ['annotations', injectedByAnnotation],
    ...keys.map(({ status }): MetadataKey => ['annotations', status]),
    ...keys
      .flatMap(({ revision }): MetadataKey[] => [
        ['labels', revision],
        ['annotations', revision],
      ])
      .filter(isOwn),
  ];
}
