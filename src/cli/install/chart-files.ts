import { readdirSync, readFileSync } from 'node:fs';

/** The files of our chart without CRDs, by their path in the chart. */
export type ChartFiles = Readonly<Record<string, string>>;

const parts = /^(?:Chart\.yaml|values\.yaml|values\.schema\.json|(?:templates|dashboards|files)\/.*\.\w+)$/;

/** Reads the chart from the checkout; the bundle contains the chart (scripts/bundle/bundle.ts). */
export function readChart(): ChartFiles {
  const folder = new URL('../../../charts/injector-operator/', import.meta.url);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => parts.test(name));
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]));
}
