import { proxyConfigAnnotation } from '../mesh/proxy-config.ts';
import { imageTypeAnnotation } from '../template-data/proxy-image.ts';
import { namesOf } from './data-places.ts';
import { jsonPlace } from './json-place.ts';
import type { TemplateReads } from './template-reads.ts';

/** How a template uses an annotation or a label. */
export interface Use {
  /** It decides on what is rendered, beyond its own text. */
  readonly steers: boolean;
  /** Its text is taken apart. */
  readonly parsed: boolean;
}

/** The annotations, or the labels, that templates read. */
export interface MapReads {
  readonly byName: ReadonlyMap<string, Use>;
  /** How those are used that no template names; absent unless a template goes over all of them. */
  readonly others?: Use;
}

/** What templates read of what a pod's author writes. */
export interface AuthorReads {
  readonly annotations: MapReads;
  readonly labels: MapReads;
  /** Everything else that is put into the output: see {@link jsonPlace}. */
  readonly fields: readonly (readonly string[])[];
}

type Part = 'annotations' | 'labels';
const parts: Readonly<Record<string, Part>> = { Annotations: 'annotations', Labels: 'labels' };
const authorsObjects: ReadonlySet<string> = new Set(['ObjectMeta', 'Spec', 'DeploymentMeta', 'TypeMeta']);

/** What several templates, which a pod gets together, read of what its author writes. */
export function authorReads(templates: readonly TemplateReads[]): AuthorReads {
  const reads = new Gathering();
  for (const { printed, steering, parsed } of templates) {
    for (const place of printed) reads.add(namesOf(place), {}, true);
    for (const place of steering) reads.add(namesOf(place), { steers: true }, false);
    for (const place of parsed) reads.add(namesOf(place), { parsed: true }, false);
  }
  return reads.result();
}

class Gathering {
  readonly #maps = { annotations: new Map<string, Use>(), labels: new Map<string, Use>() };
  readonly #others: Partial<Record<Part, Use>> = {};
  readonly #fields = new Map<string, readonly string[]>();

  add(names: readonly string[], use: Partial<Use>, printed: boolean): void {
    const [first, second, third] = names;
    if (first === undefined) {
      for (const name of ['ObjectMeta', 'Spec', 'DeploymentMeta', 'TypeMeta', 'ProxyConfig', 'ProxyImage'])
        this.add([name], use, printed);
    } else if (first === 'ProxyImage') {
      this.#use('annotations', imageTypeAnnotation, use);
      this.#use('annotations', proxyConfigAnnotation, { ...use, parsed: true });
    } else if (first === 'ProxyConfig' || (first === 'MeshConfig' && (second ?? 'DefaultConfig') === 'DefaultConfig')) {
      this.#use('annotations', proxyConfigAnnotation, { ...use, parsed: true });
    } else if (first === 'ObjectMeta' && second !== undefined && parts[second] !== undefined) {
      this.#use(parts[second], third === '*' ? undefined : third, use);
    } else if (authorsObjects.has(first)) {
      if (first === 'ObjectMeta' && (second === undefined || second === 'String')) {
        this.#use('annotations', undefined, use);
        this.#use('labels', undefined, use);
      }
      if (printed) this.#field(jsonPlace(names));
    }
  }

  #field(place: readonly string[]): void {
    this.#fields.set(place.join('\0'), place);
  }

  #use(part: Part, name: string | undefined, { steers = false, parsed = false }: Partial<Use>): void {
    const known = name === undefined ? this.#others[part] : this.#maps[part].get(name);
    const use = { steers: steers || known?.steers === true, parsed: parsed || known?.parsed === true };
    if (name === undefined) this.#others[part] = use;
    else this.#maps[part].set(name, use);
  }

  result(): AuthorReads {
    const { annotations, labels } = this.#others;
    return {
      annotations: { byName: this.#maps.annotations, ...(annotations && { others: annotations }) },
      labels: { byName: this.#maps.labels, ...(labels && { others: labels }) },
      fields: [...this.#fields.values()],
    };
  }
}

/** How the annotation or label of that name is used; `undefined` when no template reads it. */
export function useOf({ byName, others }: MapReads, name: string): Use | undefined {
  const own = byName.get(name);
  if (own === undefined || others === undefined) return own ?? others;
  return { steers: own.steers || others.steers, parsed: own.parsed || others.parsed };
}
