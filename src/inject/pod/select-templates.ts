import { trimSpace } from '../../template/functions/sprig/text/strings.ts';
import { InjectionFailure } from '../injection-failure.ts';
import { annotationOf, type Pod } from './pod.ts';

/** Each is rendered and merged, so an author must not choose how many. */
const mostTemplates = 32;

/** The templates for a pod, in order, aliases expanded once. @throws InjectionFailure when its annotation names too many */
export function selectTemplates(
  pod: Pod,
  templatesKey: string,
  defaultTemplates: readonly string[],
  aliases: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const chosen = annotationOf(pod, templatesKey);
  const names = chosen === undefined ? defaultTemplates : chosen.split(',').map(trimSpace);
  const expanded = names.flatMap((name) => aliases.get(name) ?? [name]);
  if (chosen !== undefined && expanded.length > mostTemplates) {
    const problem = `annotation ${templatesKey} names ${expanded.length} templates, a pod can have ${mostTemplates}`;
    throw new InjectionFailure('TemplateLimit', `failed to run injection template: ${problem}`);
  }
  return expanded;
}
