import type { FunctionTable } from './go-function.ts';
import { istioFunctions } from '../istio/istio-functions.ts';
import { sprigFunctions } from '../sprig/sprig-functions.ts';

const families = {
  istio: { ...sprigFunctions, ...istioFunctions },
  sprig: sprigFunctions,
  builtin: {},
} as const satisfies Record<string, FunctionTable>;

/** The functions besides Go's builtins: none, sprig's, or sprig's with Istio's overrides. */
export type FunctionFamily = keyof typeof families;

/** All families, for options and their errors. */
export const functionFamilies = Object.keys(families) as readonly FunctionFamily[];

/** Returns the functions of a family, without Go's builtins. */
export function functionsOfFamily(family: FunctionFamily): FunctionTable {
  return families[family];
}
