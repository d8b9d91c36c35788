import { TemplateError } from '../../template/template-error.ts';
import { InjectionFailure } from '../injection-failure.ts';
import type { AuthorInput } from './author-inputs.ts';
import { describePath, type FieldPath } from './field-path.ts';

const longestShown = 64;
const allowField = 'spec.injection.annotationOverrides.allow of the InjectorConfig (or to --annotation-overrides)';

/** Returns the failure for an annotation that only an administrator may allow. */
export function notAllowed(name: string, value: string, reason: string): InjectionFailure {
  return new InjectionFailure(
    'AnnotationNotAllowed',
    `annotation ${bounded(name)} (value ${quoted(value)}) is not allowed because ${reason}: remove it from the pod, or ask an administrator to add it to ${allowField}`,
  );
}

/** Returns the failure for a text that would change more than a value. */
export function unsafe(input: AuthorInput, path: FieldPath, effect: string): InjectionFailure {
  const where = path.length === 0 ? 'the injected part as a whole' : describePath(path);
  const remedy =
    input.kind === 'field'
      ? 'correct it, or put it in quotes in the template'
      : `correct it or remove it from the pod; an administrator can put it in quotes in the template, or add it to ${allowField}`;
  return new InjectionFailure('UnsafeAnnotation', `${describe(input)} ${effect} at ${where}: ${remedy}`);
}

/** Returns the failure for a text that makes the templates fail. */
export function unusable(input: AuthorInput, failure: InjectionFailure): InjectionFailure {
  const message = `${describe(input)} does not fit where the template puts it; correct it: ${failure.message}`;
  return new InjectionFailure('UnsafeAnnotation', message, { cause: failure });
}

/** Returns the failure for templates that fail for a pod, also with harmless texts. */
export function failing(failure: InjectionFailure, templates: readonly string[]): InjectionFailure {
  const { cause, message, template = [...new Set(templates)].join(' or ') } = failure;
  const at = cause instanceof TemplateError ? `${template}, line ${cause.position.line}` : template;
  return new InjectionFailure('InjectionFailing', `template ${at}: ${message}`, { cause: failure });
}

/** Returns the failure for a pod whose elements, or annotations `marks`, change the templates'. */
export function sameName(paths: readonly FieldPath[], marks: readonly string[]): InjectionFailure {
  const [what, annotation] =
    marks.length === 0 ? ['', ''] : [` or annotation ${marks.join(' or ')}`, `, and remove ${marks.join(' and ')}`];
  return new InjectionFailure(
    'SameName',
    `the pod's own elements${what} would change what the templates add under the same names at ${places(paths)}: rename the pod's elements, or remove them${annotation}; an administrator can list fields of containers in spec.injection.annotationOverrides.sameNameFields of the InjectorConfig (or of --annotation-overrides), or set sameName to Warn`,
  );
}

/** Returns the warning for a pod that was injected before, whose elements differ at these paths. */
export function elementsReplaced(paths: readonly FieldPath[]): string {
  return `the pod was injected before: the elements of the templates replace its own elements of the same names, which differ at ${places(paths)}`;
}

function places(paths: readonly FieldPath[]): string {
  return paths.slice(0, 3).map(describePath).join(', ') + (paths.length > 3 ? ' …' : '');
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
