import { commandLine } from '../../api/command-line.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { Clock } from '../../kube/ports.ts';
import type { ObjectWrite } from '../controller/owned-objects.ts';
import { type Finding, no, yes } from '../controller/revision-status.ts';

/** How long a conflict lasts after the operator last restored a field, in milliseconds. */
const conflictMs = 60_000;
/** How long to wait before writing again after a conflict, in milliseconds. */
const backOffMs = 1000;
const maxNamed = 5;
/** Annotations that make cert-manager's cainjector write caBundles (pkg/apis/certmanager/v1). */
const injectorAnnotations = ['inject-ca-from', 'inject-ca-from-secret', 'inject-apiserver-ca'].map(
  (name) => `cert-manager.io/${name}`,
);

/** Remembers recent writes of other field managers, so that condition `Conflict` does not flap. */
export class ConflictMemory {
  readonly #clock: Clock;
  readonly #seen = new Map<string, { at: number; managers: Set<string>; fields: Set<string> }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Records the fields that the writes of a pass restored. Returns the condition and, during a conflict, the
   * milliseconds until the next pass. @param webhooks the webhook configurations of the pass
   */
  observe(
    name: string,
    writes: readonly Pick<ObjectWrite, 'foreign'>[],
    webhooks: readonly KubernetesObject[] = [],
  ): { finding: Finding; again: number | undefined } {
    const foreign = writes.flatMap((write) => write.foreign);
    const now = this.#clock.monotonic();
    const before = this.#seen.get(name);
    const isOver = before === undefined || now - before.at >= conflictMs;
    if (isOver && foreign.length === 0) {
      this.#seen.delete(name);
      return { finding: no('NoConflict', 'no other field manager writes to our fields'), again: undefined };
    }
    const { managers, fields } = isOver ? { managers: new Set<string>(), fields: new Set<string>() } : before;
    for (const { manager, field } of foreign) {
      managers.add(manager);
      fields.add(field);
    }
    const at = isOver || foreign.length > 0 ? now : before.at;
    this.#seen.set(name, { at, managers, fields });
    const message = `${some(managers)} also writes ${some(fields)}; the operator restores each object at most once a second`;
    const isCainjector = [...managers].some((manager) => manager.includes('cainjector'));
    const isBundle = [...fields].some((field) => field.endsWith('.caBundle'));
    const advice = isCainjector && isBundle ? cainjectorAdvice(webhooks) : undefined;
    const finding = advice === undefined ? yes('ForeignManager', message) : yes('CainjectorWrites', message + advice);
    return { finding, again: at + conflictMs - now };
  }

  /** Returns how long to wait before the next write, in ms; 0 or less if no wait is needed. */
  backOffFor(name: string): number {
    const at = this.#seen.get(name)?.at ?? -Infinity;
    return at + backOffMs - this.#clock.monotonic();
  }

  forget(name: string): void {
    this.#seen.delete(name);
  }
}

/** Names the annotation that makes cainjector write, and the command that removes it. */
function cainjectorAdvice(webhooks: readonly KubernetesObject[]): string | undefined {
  for (const { kind, metadata } of webhooks)
    for (const annotation of injectorAnnotations)
      if (metadata.annotations?.[annotation] !== undefined)
        return `; ${kind} ${metadata.name ?? ''} has annotation ${annotation}, which makes cert-manager's cainjector write its caBundle; to remove it: ${commandLine`kubectl annotate ${kind.toLowerCase()} ${metadata.name ?? ''} ${annotation}-`}`;
  return undefined;
}

function some(names: ReadonlySet<string>): string {
  const sorted = [...names].sort();
  const more = sorted.length - maxNamed;
  return sorted.slice(0, maxNamed).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
