import { proxyConfigAnnotation } from '../mesh/proxy-config.ts';
import { imageTypeAnnotation } from '../template-data/proxy-image.ts';
import { namesOf } from './data-paths.ts';
import { jsonPath } from './json-path.ts';
import type { TemplateReads } from './template-reads.ts';

/** How templates use an annotation or a label. */
export interface Use {
  /** Whether the text controls other output, for example as a condition of an `if`. */
  readonly steers: boolean;
  /** Whether a function parses the text. */
  readonly parsed: boolean;
}

/** Uses by name. If a template ranges over all names, `*` stands for the names not mentioned. */
export type MapReads = ReadonlyMap<string, Use>;

/** The author's inputs that templates read. */
export interface AuthorReads {
  readonly annotations: MapReads;
  readonly labels: MapReads;
  /** The paths of the other printed fields (see {@link jsonPath}). */
  readonly fields: readonly (readonly string[])[];
}

const authorsObjects = ['ObjectMeta', 'Spec', 'DeploymentMeta', 'TypeMeta'];

/**
 * Combines the reads of several templates that are used for one pod.
 * @param engine annotations that the engine reads
 */
export function authorReads(templates: readonly TemplateReads[], engine: readonly string[]): AuthorReads {
  const reads = new ReadsBuilder();
  for (const { printed, steering, parsed } of templates) {
    for (const path of printed) reads.add(namesOf(path), {}, true);
    for (const path of steering) reads.add(namesOf(path), { steers: true }, false);
    for (const path of parsed) reads.add(namesOf(path), { parsed: true }, false);
  }
  const { annotations, labels, fields } = reads;
  for (const name of engine) if (!annotations.has(name)) annotations.set(name, { steers: true, parsed: true });
  return { annotations, labels, fields: [...fields.values()] };
}

class ReadsBuilder {
  readonly annotations = new Map<string, Use>();
  readonly labels = new Map<string, Use>();
  readonly fields = new Map<string, readonly string[]>();

  add(names: readonly string[], use: Partial<Use>, printed: boolean): void {
    const [first, second, third = '*'] = names;
    if (first === undefined) {
      for (const name of [...authorsObjects, 'ProxyConfig', 'ProxyImage']) this.add([name], use, printed);
    } else if (first === 'ProxyImage') {
      addUse(this.annotations, imageTypeAnnotation, use);
      addUse(this.annotations, proxyConfigAnnotation, { ...use, parsed: true });
    } else if (first === 'ProxyConfig' || (first === 'MeshConfig' && (second ?? 'DefaultConfig') === 'DefaultConfig')) {
      addUse(this.annotations, proxyConfigAnnotation, { ...use, parsed: true });
    } else if (first === 'ObjectMeta' && second === 'Annotations') {
      addUse(this.annotations, third, use);
    } else if (first === 'ObjectMeta' && second === 'Labels') {
      addUse(this.labels, third, use);
    } else if (authorsObjects.includes(first)) {
      if (first === 'ObjectMeta' && (second ?? 'String') === 'String') {
        addUse(this.annotations, '*', use);
        addUse(this.labels, '*', use);
      }
      const { path } = jsonPath(names);
      if (printed) this.fields.set(path.join('\0'), path);
    }
  }
}

function addUse(reads: Map<string, Use>, name: string, { steers = false, parsed = false }: Partial<Use>): void {
  const known = reads.get(name);
  reads.set(name, { steers: steers || known?.steers === true, parsed: parsed || known?.parsed === true });
}

/** Returns the use of an annotation or label; `undefined` when no template reads it. */
export function useOf(reads: MapReads, name: string): Use | undefined {
  const [own, others] = [reads.get(name), reads.get('*')];
  if (own === undefined || others === undefined) return own ?? others;
  return { steers: own.steers || others.steers, parsed: own.parsed || others.parsed };
}
