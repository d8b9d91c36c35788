import type { JsonObject } from '../../src/inject/patch/json-value.ts';
import type { Random } from '../template-recorder/random.ts';
import { AuthorTexts } from './author-texts.ts';
import { barePod } from './author.ts';
import { addedStructure } from './compare-pods.ts';
import { Expressions } from './expressions.ts';
import type { Figures } from './figures.ts';
import { LoadedTemplate, type Subject } from './subject.ts';
import { podTemplate } from './template-parts.ts';
import { TemplateSlots } from './template-slots.ts';

/** Further texts of a pod: an expression that reads the text, and a function that sets it. */
const fields: readonly { readonly expression: string; readonly put: (pod: JsonObject, text: string) => JsonObject }[] =
  [
    { expression: '$.ObjectMeta.Name', put: (pod, name) => withMetadata(pod, { name }) },
    { expression: '$.DeploymentMeta.Name', put: (pod, name) => withMetadata(pod, { name, ownerReferences: [] }) },
    { expression: '$.ObjectMeta.GenerateName', put: (pod, generateName) => withMetadata(pod, { generateName }) },
    {
      expression: '(index $.ObjectMeta.OwnerReferences 0).Name',
      put: (pod, name) => withMetadata(pod, owner({ name })),
    },
    {
      expression: '(index $.ObjectMeta.OwnerReferences 0).Kind',
      put: (pod, kind) => withMetadata(pod, owner({ kind })),
    },
    { expression: '$.Spec.ServiceAccountName', put: (pod, text) => withSpec(pod, { serviceAccountName: text }) },
    { expression: '$.Spec.NodeName', put: (pod, nodeName) => withSpec(pod, { nodeName }) },
    { expression: '$.Spec.Hostname', put: (pod, hostname) => withSpec(pod, { hostname }) },
    {
      expression: '(index $.Spec.Containers 0).Image',
      put: (pod, image) => withSpec(pod, { containers: [{ name: 'web', image }] }),
    },
    {
      expression: '(index $.Spec.Containers 0).WorkingDir',
      put: (pod, workingDir) => withSpec(pod, { containers: [{ name: 'web', image: 'web:1', workingDir }] }),
    },
  ];

function withMetadata(pod: JsonObject, metadata: JsonObject): JsonObject {
  return { ...pod, metadata: { ...(pod.metadata as JsonObject), ...metadata } };
}

function withSpec(pod: JsonObject, spec: JsonObject): JsonObject {
  return { ...pod, spec: { ...(pod.spec as JsonObject), ...spec } };
}

function owner(changed: JsonObject): JsonObject {
  return {
    ownerReferences: [
      { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: '1', controller: true, ...changed },
    ],
  };
}

/** Positions that print a field without conditions, so that the field must not add anything. */
class PrintingSlots extends TemplateSlots {
  readonly #random: Random;
  readonly #field: string;

  constructor(random: Random, field: string) {
    super(random, new Expressions(random), 0);
    this.#random = random;
    this.#field = field;
  }

  override scalar(literal: string): string {
    const random = this.#random;
    if (!random.chance(0.5)) return literal;
    this.hot += 1;
    const field = random.pick([
      this.#field,
      this.#field,
      `${this.#field} | upper`,
      `printf "x-%s" ${this.#field}`,
      `print ${this.#field}`,
      `${this.#field} | trunc 60`,
      `${this.#field} | default "none"`,
      `${this.#field} | replace "x" "y"`,
      `${this.#field} | trimSuffix "-"`,
      `${this.#field} | lower | title`,
    ]);
    const inner = literal.replace(/^"(.*)"$/, '$1');
    return random.pick([
      `{{ ${field} }}`,
      `"{{ ${field} }}"`,
      `'{{ ${field} }}'`,
      `{{ ${field} | quote }}`,
      `{{ ${field} | squote }}`,
      `{{ ${field} | toJson }}`,
      `{{ ${field} | toYaml }}`,
      `${inner}-{{ ${field} }}`,
      `{{ ${field} }}-${inner}`,
      `"${inner}/{{ ${field} }}"`,
      `${literal} # {{ ${field} }}`,
    ]);
  }

  override key(literal: string): string {
    return literal;
  }

  override block(lines: string): string {
    return lines;
  }

  override structure(): string {
    return '{}';
  }

  override walk(): string {
    return '';
  }
}

/** A pod whose name, owner or spec extends the injected content. */
export interface NamedLeak {
  readonly template: string;
  readonly field: string;
  readonly text: string;
  readonly path: string;
}

/** Tries a template that prints one field. Compares a hostile text with a harmless one. */
export function tryNamedPods(subject: Subject, random: Random, figures: Figures): NamedLeak | undefined {
  const { expression, put } = random.pick(fields);
  let slots: TemplateSlots;
  let template: string;
  do {
    slots = new PrintingSlots(random, expression);
    template = podTemplate(slots, '');
  } while (slots.hot === 0);
  const texts = new AuthorTexts(random);
  const loaded = new LoadedTemplate(subject, template);
  const harmless = loaded.inject('Istio', put(barePod, 'harmless'));
  for (let count = 0; count < 3; count += 1) {
    const text = texts.next([]);
    const pod = put(barePod, text);
    const unchecked = loaded.inject('Istio', pod);
    if (unchecked.outcome !== 'injected') continue;
    figures.named += 1;
    // If the harmless text was not injected, there is no reference.
    if (harmless.outcome !== 'injected') continue;
    const path = addedStructure(unchecked.pod, harmless.pod);
    const result = loaded.inject('Safe', pod);
    if (result.outcome === 'failed' && result.reason === 'Internal') throw new Error(result.message);
    if (result.outcome !== 'injected') continue;
    figures.namedAccepted += 1;
    if (path !== undefined) return { template, field: expression, text, path };
  }
  return undefined;
}
