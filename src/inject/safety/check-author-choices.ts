import type { Family } from '../configuration/family.ts';
import { containersOf, initContainersOf, annotationOf, type Container, type Pod } from '../pod/pod.ts';
import type { Overrides } from '../pod/overrides.ts';
import { emptyPod, overlayPod } from '../render/overlay.ts';
import type { AuthorGuard } from './author-guard.ts';
import { notAllowed } from './refusal.ts';
import { forbiddenDifference } from './value-places.ts';

/** What a pod's annotations ask of the engine itself. */
export interface AuthorChoices {
  /** As it came. */
  readonly pod: Pod;
  readonly family: Family;
  /** The templates that the pod gets, and those that it would get without a say of its own. */
  readonly templates: readonly string[];
  readonly defaultTemplates: readonly string[];
  readonly overrides: Overrides;
}

/**
 * Sees to it that a pod chooses other templates only where that is allowed, and that the containers which an earlier injection has saved in
 * its annotation bring nothing that the pod does not have.
 * @throws InjectionFailure `AnnotationNotAllowed`
 */
export function checkAuthorChoices(guard: AuthorGuard, choices: AuthorChoices): void {
  const { pod, family, templates, defaultTemplates, overrides } = choices;
  if (!guard.allows(family.templatesKey) && templates.join('\0') !== defaultTemplates.join('\0')) {
    throw notAllowed(family.templatesKey, annotationOf(pod, family.templatesKey) ?? '', 'it chooses the templates');
  }
  if (guard.allows(family.overridesKey)) return;
  const present = [...containersOf(pod), ...initContainersOf(pod)];
  for (const saved of [...overrides.containers, ...overrides.initContainers]) {
    const own = present.find(({ name }) => name === saved.name);
    if (own !== undefined && bringsNothing(saved, own)) continue;
    const reason = `it changes container ${JSON.stringify(saved.name.slice(0, 63))} beyond what the pod itself says of it`;
    throw notAllowed(family.overridesKey, annotationOf(pod, family.overridesKey) ?? '', reason);
  }
}

/** An injection saves what the user's container says and then lets it have the last word, so merging it again changes nothing. */
function bringsNothing(saved: Container, own: Container): boolean {
  const before = overlayPod(emptyPod, { spec: { containers: [own] } });
  const after = overlayPod(before, { spec: { containers: [saved] } });
  const variables = new Set(own.env?.map(({ name }) => name));
  return forbiddenDifference({ ...after }, { ...before }, 'presence', variables).place === undefined;
}
