import { trimSpace } from '../../template/functions/sprig/text/strings.ts';
import { InjectionFailure } from '../injection-failure.ts';
import { annotationOf, type Pod } from './pod.ts';

/** The maximum number of templates that a pod may request; each is rendered and merged. */
const maxTemplates = 32;

/** Returns the names of a pod's templates, without aliases. @throws InjectionFailure */
export function selectTemplates(
  pod: Pod,
  templatesKey: string,
  defaultTemplates: readonly string[],
  aliases: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const chosen = annotationOf(pod, templatesKey);
  const names = chosen === undefined ? defaultTemplates : chosen.split(',').map(trimSpace);
  const expanded = names.flatMap((name) => aliases.get(name) ?? [name]);
  if (chosen !== undefined && expanded.length > maxTemplates) {
    const problem = `annotation ${templatesKey} names ${expanded.length} templates, but a pod can have at most ${maxTemplates}`;
    throw new InjectionFailure('TemplateLimit', `failed to run injection template: ${problem}`);
  }
  return expanded;
}
