import { inject } from '../../inject.ts';
import type { InjectionResult } from '../../injection-result.ts';
import { loadInjector } from '../../injector.ts';
import type { JsonObject } from '../../patch/json-value.ts';

/** What an author writes into a pod. */
export interface Author {
  readonly annotations?: JsonObject;
  readonly labels?: JsonObject;
  readonly metadata?: JsonObject;
  readonly spec?: JsonObject;
}

/** An annotation of nobody's family. */
export const team = 'example.com/team';
/** Its text, as a template reads it. */
export const given = `(index .ObjectMeta.Annotations "${team}")`;
/** The text as it is, and in quotes. */
export const said = `{{ ${given} }}`;
export const quoted = `{{ ${given} | quote }}`;
/** What stands where the annotation is there, or has a text. */
export const present = (part: string): string => `{{ if ${given} }}${part}{{ end }}`;
/** Fails without it. */
export const required = `{{ if not ${given} }}{{ fail "missing" }}{{ end }}`;

export function podOf({ annotations = {}, labels = {}, metadata = {}, spec = {} }: Author): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', annotations, labels, ...metadata },
    spec: { containers: [{ name: 'web', image: 'web:1' }], ...spec },
  };
}

/** Injects an author's pod with one template, safe unless annotations are allowed by name. */
export function safely(template: string, author: Author, allow: readonly string[] = []): InjectionResult {
  const injector = loadInjector({
    config: JSON.stringify({ templates: { sidecar: template, other: 'spec: {}' }, policy: 'enabled' }),
    values: '',
    mesh: '',
    settings: JSON.stringify({ annotationOverrides: { preset: 'Safe', allow } }),
  });
  return inject(injector, { pod: podOf(author), namespace: 'shop' });
}

/** A sidecar with a line of its own. */
export const sidecar = (line: string): string =>
  `spec:\n  containers:\n  - name: sidecar\n    image: sidecar:1\n    ${line}\n`;
/** One whose variable TEAM is what the template makes. */
export const variable = (value: string): string => sidecar(`env: [{name: TEAM, value: ${value}}]`);
/** The annotation with a text. */
export const written = (value: string): Author => ({ annotations: { [team]: value } });
/** The reason for a refusal, or what else became of the pod. */
export const reasonOf = (result: InjectionResult): string =>
  result.outcome === 'failed' ? result.reason : result.outcome;
/** What is said of a refusal; nothing of anything else. */
export const messageOf = (result: InjectionResult): string => (result.outcome === 'failed' ? result.message : '');
