import { InjectionFailure } from '../injection-failure.ts';
import type { AuthorInput } from './author-inputs.ts';
import { describePlace, type Place } from './place.ts';

const longestShown = 64;
const allowField =
  'annotationOverrides.allow of the injector (spec.injection of its InjectorConfig, or --annotation-overrides)';

/** The author uses what only an administrator may hand out. */
export function notAllowed(name: string, value: string, reason: string): InjectionFailure {
  return new InjectionFailure(
    'AnnotationNotAllowed',
    `annotation ${bounded(name)} (value ${quoted(value)}) is structural, ${reason}, and may not be used here: remove it from the pod, or let an administrator add it to ${allowField}`,
  );
}

/** What the author wrote would change more than a value. */
export function unsafe(input: AuthorInput, place: Place, effect: string): InjectionFailure {
  const where = place.length === 0 ? 'the whole of what is injected' : describePlace(place);
  const remedy =
    input.kind === 'field'
      ? 'correct it, or let the template put it in quotes'
      : `remove it from the pod, or correct it; an administrator can let the template put it in quotes, or add it to ${allowField}`;
  return new InjectionFailure('UnsafeAnnotation', `${describe(input)} ${effect} at ${where}: ${remedy}`);
}

/** What the author wrote makes the templates fail. */
export function unusable(input: AuthorInput, failure: InjectionFailure): InjectionFailure {
  const message = `${describe(input)} does not fit where the template puts it; correct it: ${failure.message}`;
  return new InjectionFailure('UnsafeAnnotation', message, { cause: failure });
}

function describe({ kind, name, value }: AuthorInput): string {
  return `${kind === 'field' ? `the pod's ${name}` : `${kind} ${bounded(name)}`} (value ${quoted(value)})`;
}

function quoted(value: string): string {
  return JSON.stringify(value.length > longestShown ? `${value.slice(0, longestShown)}…` : value);
}

function bounded(name: string): string {
  return /^[A-Za-z0-9._/-]{1,317}$/.test(name) ? name : quoted(name);
}
