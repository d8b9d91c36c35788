import type { FunctionTable } from './go-function.ts';
import { istioFunctions, type IstioFunctionOptions } from '../istio/istio-functions.ts';
import { sprigFunctions } from '../sprig/sprig-functions.ts';

/** Which functions a template may call: Go's own always; sprig's; sprig's with Istio's over them. */
export type FunctionFamily = 'builtin' | 'sprig' | 'istio';

/** All families, for options and their errors. */
export const functionFamilies: readonly FunctionFamily[] = ['istio', 'sprig', 'builtin'];

/** The functions of a family, besides Go's builtins. */
export function functionsOfFamily(family: FunctionFamily, options: IstioFunctionOptions = {}): FunctionTable {
  switch (family) {
    case 'builtin':
      return {};
    case 'sprig':
      return sprigFunctions;
    case 'istio':
      return { ...sprigFunctions, ...istioFunctions(options) };
  }
}
