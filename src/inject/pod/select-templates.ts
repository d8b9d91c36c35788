import { annotationOf, type Pod } from './pod.ts';

/**
 * The names of the templates for a pod, in order: its annotation (`templatesKey`, comma-separated) or the defaults, aliases expanded once.
 */
export function selectTemplates(
  pod: Pod,
  templatesKey: string,
  defaultTemplates: readonly string[],
  aliases: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const chosen = annotationOf(pod, templatesKey);
  const names = chosen === undefined ? defaultTemplates : chosen.split(',').map((name) => name.trim());
  return names.flatMap((name) => aliases.get(name) ?? [name]);
}
