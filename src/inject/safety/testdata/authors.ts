import { inject } from '../../inject.ts';
import type { InjectionResult } from '../../injection-result.ts';
import { loadInjector } from '../../injector.ts';
import type { JsonObject } from '../../patch/json-value.ts';

/** The author's part of a pod. */
export interface Author {
  readonly annotations?: JsonObject;
  readonly labels?: JsonObject;
  readonly metadata?: JsonObject;
  readonly spec?: JsonObject;
}

/** An annotation that no family uses. */
export const team = 'example.com/team';
/** The template expression for the text of the annotation. */
export const input = `(index .ObjectMeta.Annotations "${team}")`;
/** A template that prints the text; `quoted` prints it in quotes. */
export const bare = `{{ ${input} }}`;
export const quoted = `{{ ${input} | quote }}`;
/** Renders a part if the annotation is not empty. */
export const present = (part: string): string => `{{ if ${input} }}${part}{{ end }}`;
/** A template that fails if the annotation is absent. */
export const required = `{{ if not ${input} }}{{ fail "missing" }}{{ end }}`;

export function podOf({ annotations = {}, labels = {}, metadata = {}, spec = {} }: Author): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', annotations, labels, ...metadata },
    spec: { containers: [{ name: 'web', image: 'web:1' }], ...spec },
  };
}

/** Injects a pod with one template under preset Safe. */
export function safely(template: string, author: Author, allow: readonly string[] = []): InjectionResult {
  const injector = loadInjector({
    config: JSON.stringify({ templates: { sidecar: template, other: 'spec: {}' }, policy: 'enabled' }),
    values: '',
    mesh: '',
    settings: JSON.stringify({ annotationOverrides: { preset: 'Safe', allow } }),
  });
  return inject(injector, { pod: podOf(author), namespace: 'shop' });
}

/** A sidecar with an additional line. */
export const sidecar = (line: string): string =>
  `spec:\n  containers:\n  - name: sidecar\n    image: sidecar:1\n    ${line}\n`;
/** A sidecar with a value for the variable TEAM. */
export const variable = (value: string): string => sidecar(`env: [{name: TEAM, value: ${value}}]`);
/** An author who sets the annotation. */
export const written = (value: string): Author => ({ annotations: { [team]: value } });
/** The reason for a failure, or the outcome. */
export const reasonOf = (result: InjectionResult): string =>
  result.outcome === 'failed' ? result.reason : result.outcome;
/** The message of a failure, or ''. */
export const messageOf = (result: InjectionResult): string => (result.outcome === 'failed' ? result.message : '');
