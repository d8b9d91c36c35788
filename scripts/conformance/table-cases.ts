import type { ConformanceCase, Mismatch } from './conformance-case.ts';
import type { Golden } from './golden.ts';
import { annotationTables } from './tables/annotation-tables.ts';
import { decisionTables } from './tables/decision-tables.ts';
import { functionTables } from './tables/function-tables.ts';
import { meshTables } from './tables/mesh-tables.ts';
import { podTables } from './tables/pod-tables.ts';
import { probeTables } from './tables/probe-tables.ts';

/** Compares one row of a recorded table with what the engine does. */
export type RowComparison = (row: unknown) => Mismatch | undefined;

/** The tables by name, each a list of rows. */
const tables: Readonly<Record<string, RowComparison>> = {
  ...annotationTables,
  ...decisionTables,
  ...functionTables,
  ...meshTables,
  ...podTables,
  ...probeTables,
};

/** One table per behaviour, inputs with Istio's outputs. */
export function* tableCases(golden: Golden): Generator<ConformanceCase> {
  for (const [name, compare] of Object.entries(tables)) {
    const rows = golden.json(`_tables/${name}.json`) as unknown[];
    for (const [index, row] of rows.entries()) {
      yield { id: `_tables/${name}/${index}`, group: `tables/${name}`, run: () => compare(row) };
    }
  }
}
