import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { Clock } from '../../kube/ports.ts';
import type { ForeignField } from '../../kube/apply-object.ts';
import { type Finding, no, yes } from '../controller/revision-status.ts';

/** How long after the last taken-back field a conflict counts as over, in milliseconds. */
const calmMs = 60_000;
/** How long we leave an InjectorConfig alone whose objects somebody else writes too. Milliseconds. */
const quietMs = 1000;
const mostNamed = 5;
/** With one of these cert-manager's cainjector writes the authorities of its own choice into every caBundle (cert-manager, pkg/apis/certmanager/v1). */
const injectorAnnotations = ['inject-ca-from', 'inject-ca-from-secret', 'inject-apiserver-ca'].map(
  (name) => `cert-manager.io/${name}`,
);

/** Who else wrote to the objects of an InjectorConfig lately: a condition that does not flap while somebody goes on. */
export class ConflictMemory {
  readonly #clock: Clock;
  readonly #seen = new Map<string, { at: number; managers: Set<string>; fields: Set<string> }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Remembers what a pass took back; returns the finding for status, and when to look again (milliseconds) while there is a conflict.
   * @param webhooks the webhook configurations among what the pass writes
   */
  observe(
    name: string,
    foreign: readonly ForeignField[],
    webhooks: readonly KubernetesObject[] = [],
  ): { finding: Finding; again: number | undefined } {
    const now = this.#clock.monotonic();
    const before = this.#seen.get(name);
    const isOver = before === undefined || now - before.at >= calmMs;
    if (isOver && foreign.length === 0) {
      this.#seen.delete(name);
      return { finding: no('NoConflict', 'nobody else writes to our fields'), again: undefined };
    }
    const { managers, fields } = isOver ? { managers: new Set<string>(), fields: new Set<string>() } : before;
    for (const { manager, field } of foreign) {
      managers.add(manager);
      fields.add(field);
    }
    const at = isOver || foreign.length > 0 ? now : before.at;
    this.#seen.set(name, { at, managers, fields });
    const message = `${some(managers)} also writes ${some(fields)}; each object is taken back at most once a second`;
    const isCainjector = [...managers].some((manager) => manager.includes('cainjector'));
    const isBundle = [...fields].some((field) => field.endsWith('.caBundle'));
    const invited = isCainjector && isBundle ? invitationOf(webhooks) : undefined;
    const finding = invited === undefined ? yes('ForeignManager', message) : yes('CainjectorWrites', message + invited);
    return { finding, again: at + calmMs - now };
  }

  /** The milliseconds for which an InjectorConfig is still left alone. */
  quietFor(name: string): number {
    const at = this.#seen.get(name)?.at ?? -Infinity;
    return at + quietMs - this.#clock.monotonic();
  }

  forget(name: string): void {
    this.#seen.delete(name);
  }
}

/** By which annotation cainjector writes, and how to take it off. */
function invitationOf(webhooks: readonly KubernetesObject[]): string | undefined {
  for (const { kind, metadata } of webhooks)
    for (const annotation of injectorAnnotations)
      if (metadata.annotations?.[annotation] !== undefined)
        return `; ${kind} ${metadata.name ?? ''} has annotation ${annotation}, by which cert-manager's cainjector writes there: kubectl annotate ${kind.toLowerCase()} ${metadata.name ?? ''} ${annotation}-`;
  return undefined;
}

function some(names: ReadonlySet<string>): string {
  const sorted = [...names].sort();
  const more = sorted.length - mostNamed;
  return sorted.slice(0, mostNamed).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
