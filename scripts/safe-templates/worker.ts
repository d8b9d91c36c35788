/** Tries the templates of some numbers in a child process. Prints the results as JSON. */
import type { Author } from './author.ts';
import { noFigures, type Figures } from './figures.ts';
import { shrink } from './shrink.ts';
import { loadSubject } from './subject.ts';
import { tryNamedPods } from './named-pods.ts';
import { randomOf, tryNumber, Trial, type Leak } from './trial.ts';

/** The task of a worker, as JSON in its only argument. */
export interface WorkerTask {
  /** The folder of the engine: `src` or a copy. */
  readonly source: string;
  /** The folder of another engine, whose leaks do not count. */
  readonly baseline?: string;
  readonly seed: number;
  /** The numbers of the templates: from `from` to below `to`, in steps of `step`. */
  readonly from: number;
  readonly to: number;
  readonly step: number;
  /** The maximum number of leaks to shrink and show. If `stop` is set, the search ends there. */
  readonly show: number;
  readonly stop: boolean;
}

/** A leak in the output. */
export interface ShownLeak {
  readonly index: number;
  readonly path: string;
  readonly template: string;
  /** The texts of the author, and of a second author if the leak compares two. */
  readonly author: string;
}

/** The output of a worker. */
export interface WorkerResult {
  readonly figures: Figures;
  readonly leaks: number;
  /** One leak of each kind, up to the limit. */
  readonly shown: readonly ShownLeak[];
  /** Internal errors, and pods that differ from the injection without the check. */
  readonly errors: readonly string[];
}

/** The interval between templates that get hostile names instead of annotations. */
const namedShare = 10;

// Refusals are frequent errors, and no code reads their stack traces.
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
          shown.set(`named ${named.path}`, {
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
    const kind = leak.path.replace(/\[[^\]]*\]/g, '[]');
    if (shown.size >= task.show || shown.has(kind)) continue;
    shown.set(kind, shownLeak(shrink(leak, leakOf), index));
  } catch (error) {
    errors.push(`template ${index}: ${(error as Error).message}`);
  }
}
process.stdout.write(JSON.stringify({ figures, leaks, shown: [...shown.values()], errors: errors.slice(0, 5) }));

function shownLeak({ template, path, author, other }: Leak, index: number): ShownLeak {
  const against = other === undefined ? '' : `, against ${JSON.stringify(other)}`;
  return { index, path, template, author: JSON.stringify(author) + against };
}

/** Returns the leak of a template; undefined if the template does not load. */
function leakOf(template: string, authors: readonly Author[]): Leak | undefined {
  try {
    return new Trial(subject, template, noFigures()).leak(authors);
  } catch {
    return undefined;
  }
}
