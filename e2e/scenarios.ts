import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scenario } from './harness/scenario-context.ts';
import { repository } from './harness/paths.ts';

/** Returns the scenario of a folder entry: of `NAME.ts`, or of `NAME/NAME.ts`. */
async function scenarioIn(folder: string, entry: string): Promise<Scenario[]> {
  const file = [join(folder, entry), join(folder, entry, `${entry}.ts`)].find(
    (each) => /\.ts$/.test(each) && existsSync(each),
  );
  if (file === undefined) return [];
  const exported = Object.values((await import(file)) as Record<string, Scenario | undefined>);
  const found = exported.filter((each) => typeof each === 'object' && 'about' in each && 'run' in each);
  if (found.length === 1) return [found[0]!];
  throw new Error(`${file} must export one scenario, but exports ${found.length}`);
}

/** Returns the seconds that each scenario took in the last recorded run of CI. */
function recordedSeconds(): Map<string, number> {
  const file = join(repository, 'docs', 'measurements', 'ci.json');
  if (!existsSync(file)) return new Map();
  const { figures } = JSON.parse(readFileSync(file, 'utf8')) as {
    figures: { scenarios: readonly { name: string; seconds: number }[] };
  };
  return new Map(figures.scenarios.map(({ name, seconds }) => [name, seconds]));
}

const folder = join(import.meta.dirname, 'scenarios');
const entries = readdirSync(folder).sort();
const seconds = recordedSeconds();
const secondsOf = ({ name }: Scenario): number => seconds.get(name) ?? Infinity;
const all = (await Promise.all(entries.map((entry) => scenarioIn(folder, entry)))).flat();

/** All scenarios in running order: the longest first, so that all queues end together. */
export const scenarios: readonly Scenario[] = all.sort((one, other) =>
  secondsOf(one) === secondsOf(other) ? 0 : secondsOf(other) - secondsOf(one),
);
