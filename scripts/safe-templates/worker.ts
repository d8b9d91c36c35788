/** Tries the templates of some numbers, in a process of its own: `worker.ts '{"source": …}'`. Prints what it found as JSON. */
import type { Author } from './author.ts';
import { noFigures, type Figures } from './figures.ts';
import { shrink } from './shrink.ts';
import { loadSubject } from './subject.ts';
import { tryNamedPods } from './named-pods.ts';
import { randomOf, tryNumber, Trial, type Leak } from './trial.ts';

/** What a worker is asked. */
export interface WorkerTask {
  /** The folder of the engine: `src`, or a copy. */
  readonly source: string;
  /** The folder of another engine: what leaks there too does not count. */
  readonly baseline?: string;
  readonly seed: number;
  /** Every `step`th number from `from` to below `to`. */
  readonly from: number;
  readonly to: number;
  readonly step: number;
  /** How many leaks are shown and made small; after as many a search for planted mistakes ends. */
  readonly show: number;
  readonly stop: boolean;
}

/** A leak as it is printed. */
export interface ShownLeak {
  readonly index: number;
  readonly place: string;
  readonly template: string;
  /** What the author wrote, and where it was compared with another author's. */
  readonly author: string;
}

/** What it answers. */
export interface WorkerResult {
  readonly figures: Figures;
  readonly leaks: number;
  /** One of each kind, as far as they are shown. */
  readonly shown: readonly ShownLeak[];
  /** Results that are no refusal and no injection, or differ from the injection without the check. */
  readonly errors: readonly string[];
}

/** Of how many templates one is tried with hostile names instead of annotations. */
const namedShare = 10;

// Refusals are many, and nobody reads where they come from.
Error.stackTraceLimit = 0;
const task = JSON.parse(process.argv[2]!) as WorkerTask;
const subject = await loadSubject(task.source);
const baseline = task.baseline === undefined ? undefined : await loadSubject(task.baseline);
const figures = noFigures();
const shown = new Map<string, ShownLeak>();
const errors: string[] = [];
let leaks = 0;

for (let index = task.from; index < task.to && !(task.stop && leaks >= task.show); index += task.step) {
  try {
    if (index % namedShare === 0) {
      figures.templates += 1;
      const named = tryNamedPods(subject, randomOf(task.seed, index), figures);
      if (
        named !== undefined &&
        (baseline === undefined || tryNamedPods(baseline, randomOf(task.seed, index), noFigures()) === undefined)
      ) {
        leaks += 1;
        if (shown.size < task.show)
          shown.set(`named ${named.place}`, {
            ...named,
            index,
            author: `${named.field} = ${JSON.stringify(named.text)}`,
          });
      }
      continue;
    }
    const leak = tryNumber(subject, task.seed, index, figures);
    if (
      leak === undefined ||
      (baseline !== undefined && tryNumber(baseline, task.seed, index, noFigures()) !== undefined)
    )
      continue;
    leaks += 1;
    const kind = leak.place.replace(/\[[^\]]*\]/g, '[]');
    if (shown.size >= task.show || shown.has(kind)) continue;
    shown.set(kind, shownLeak(shrink(leak, leakOf), index));
  } catch (error) {
    errors.push(`template ${index}: ${(error as Error).message}`);
  }
}
process.stdout.write(JSON.stringify({ figures, leaks, shown: [...shown.values()], errors: errors.slice(0, 5) }));

function shownLeak({ template, place, author, other }: Leak, index: number): ShownLeak {
  const against = other === undefined ? '' : `, against ${JSON.stringify(other)}`;
  return { index, place, template, author: JSON.stringify(author) + against };
}

/** A template that cannot be loaded does not leak. */
function leakOf(template: string, authors: readonly Author[]): Leak | undefined {
  try {
    return new Trial(subject, template, noFigures()).leak(authors);
  } catch {
    return undefined;
  }
}
