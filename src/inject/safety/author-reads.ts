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

/** The annotations, or the labels, that templates read, by name; `*` stands for all that no template names, where one goes over them. */
export type MapReads = ReadonlyMap<string, Use>;

/** What templates read of what a pod's author writes. */
export interface AuthorReads {
  readonly annotations: MapReads;
  readonly labels: MapReads;
  /** Everything else that is put into the output: see {@link jsonPlace}. */
  readonly fields: readonly (readonly string[])[];
}

const authorsObjects = ['ObjectMeta', 'Spec', 'DeploymentMeta', 'TypeMeta'];

/**
 * What several templates, which a pod gets together, read of what its author writes.
 * @param engine annotations that the engine itself reads
 */
export function authorReads(templates: readonly TemplateReads[], engine: readonly string[]): AuthorReads {
  const reads = new Gathering();
  for (const { printed, steering, parsed } of templates) {
    for (const place of printed) reads.add(namesOf(place), {}, true);
    for (const place of steering) reads.add(namesOf(place), { steers: true }, false);
    for (const place of parsed) reads.add(namesOf(place), { parsed: true }, false);
  }
  const { annotations, labels, fields } = reads;
  for (const name of engine) if (!annotations.has(name)) annotations.set(name, { steers: true, parsed: true });
  return { annotations, labels, fields: [...fields.values()] };
}

class Gathering {
  readonly annotations = new Map<string, Use>();
  readonly labels = new Map<string, Use>();
  readonly fields = new Map<string, readonly string[]>();

  add(names: readonly string[], use: Partial<Use>, printed: boolean): void {
    const [first, second, third = '*'] = names;
    if (first === undefined) {
      for (const name of [...authorsObjects, 'ProxyConfig', 'ProxyImage']) this.add([name], use, printed);
    } else if (first === 'ProxyImage') {
      gain(this.annotations, imageTypeAnnotation, use);
      gain(this.annotations, proxyConfigAnnotation, { ...use, parsed: true });
    } else if (first === 'ProxyConfig' || (first === 'MeshConfig' && (second ?? 'DefaultConfig') === 'DefaultConfig')) {
      gain(this.annotations, proxyConfigAnnotation, { ...use, parsed: true });
    } else if (first === 'ObjectMeta' && second === 'Annotations') {
      gain(this.annotations, third, use);
    } else if (first === 'ObjectMeta' && second === 'Labels') {
      gain(this.labels, third, use);
    } else if (authorsObjects.includes(first)) {
      if (first === 'ObjectMeta' && (second ?? 'String') === 'String') {
        gain(this.annotations, '*', use);
        gain(this.labels, '*', use);
      }
      const { place } = jsonPlace(names);
      if (printed) this.fields.set(place.join('\0'), place);
    }
  }
}

function gain(reads: Map<string, Use>, name: string, { steers = false, parsed = false }: Partial<Use>): void {
  const known = reads.get(name);
  reads.set(name, { steers: steers || known?.steers === true, parsed: parsed || known?.parsed === true });
}

/** How the annotation or label of that name is used; `undefined` when no template reads it. */
export function useOf(reads: MapReads, name: string): Use | undefined {
  const [own, others] = [reads.get(name), reads.get('*')];
  if (own === undefined || others === undefined) return own ?? others;
  return { steers: own.steers || others.steers, parsed: own.parsed || others.parsed };
}
