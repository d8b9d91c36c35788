import { annotationOf, type Pod } from './pod.ts';

/** The pod annotation that names the templates, comma-separated. */
export const templatesAnnotation = 'inject.istio.io/templates';

/** The names of the templates for a pod, in order: its annotation or the defaults, aliases expanded once. */
export function selectTemplates(
  pod: Pod,
  defaultTemplates: readonly string[],
  aliases: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const chosen = annotationOf(pod, templatesAnnotation);
  const names = chosen === undefined ? defaultTemplates : chosen.split(',').map((name) => name.trim());
  return names.flatMap((name) => aliases.get(name) ?? [name]);
}
