import { readdirSync, readFileSync } from 'node:fs';

/** Our chart without its resource definitions: its path inside the chart → each file's text. */
export type ChartFiles = Readonly<Record<string, string>>;

const parts = /^(?:Chart\.yaml|values\.yaml|values\.schema\.json|(?:templates|dashboards|files)\/.*\.\w+)$/;

/** Reads the chart from the checkout; in the bundle the files are a text of the program (scripts/bundle/bundle.ts). */
export function readChart(): ChartFiles {
  const folder = new URL('../../../charts/injector-operator/', import.meta.url);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => parts.test(name));
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]));
}
