import type { Clock } from '../../kube/ports.ts';
import type { ForeignField } from '../../kube/apply-object.ts';
import { type Finding, no } from '../controller/revision-status.ts';

/** How long after the last taken-back field a conflict counts as over, in milliseconds. */
const calmMs = 60_000;
const mostNamed = 5;

/** Who else wrote to the objects of an InjectorConfig lately: a condition that does not flap while somebody goes on. */
export class ConflictMemory {
  readonly #clock: Clock;
  readonly #seen = new Map<string, { at: number; managers: Set<string>; fields: Set<string> }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Remembers what a pass took back; returns the finding for status, and when to look again (milliseconds) while there is a conflict. */
  observe(name: string, foreign: readonly ForeignField[]): { finding: Finding; again: number | undefined } {
    const now = this.#clock.monotonic();
    const before = this.#seen.get(name);
    const current = before !== undefined && now - before.at < calmMs ? before : undefined;
    if (current === undefined) this.#seen.delete(name);
    if (foreign.length > 0) {
      const entry = current ?? { at: now, managers: new Set<string>(), fields: new Set<string>() };
      entry.at = now;
      for (const { manager, field } of foreign) {
        entry.managers.add(manager);
        entry.fields.add(field);
      }
      this.#seen.set(name, entry);
    }
    const entry = this.#seen.get(name);
    if (entry === undefined) {
      return { finding: no('NoConflict', 'nobody else writes to our fields'), again: undefined };
    }
    const message = `${some(entry.managers)} also writes ${some(entry.fields)}; each object is taken back at most once a second`;
    return { finding: { status: 'True', reason: 'ForeignManager', message }, again: entry.at + calmMs - now };
  }

  forget(name: string): void {
    this.#seen.delete(name);
  }
}

function some(names: ReadonlySet<string>): string {
  const sorted = [...names].sort();
  const more = sorted.length - mostNamed;
  return sorted.slice(0, mostNamed).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
