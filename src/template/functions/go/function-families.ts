import type { FunctionTable } from './go-function.ts';
import { istioFunctions } from '../istio/istio-functions.ts';
import { sprigFunctions } from '../sprig/sprig-functions.ts';

const families = {
  istio: { ...sprigFunctions, ...istioFunctions },
  sprig: sprigFunctions,
  builtin: {},
} as const satisfies Record<string, FunctionTable>;

/** Which functions a template may call: Go's own always; sprig's; sprig's with Istio's over them. */
export type FunctionFamily = keyof typeof families;

/** All families, for options and their errors. */
export const functionFamilies = Object.keys(families) as readonly FunctionFamily[];

/** The functions of a family, besides Go's builtins. */
export function functionsOfFamily(family: FunctionFamily): FunctionTable {
  return families[family];
}
