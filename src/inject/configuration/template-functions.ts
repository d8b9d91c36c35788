import type { FunctionTable } from '../../template/functions/go/go-function.ts';
import { istioFunctions } from '../../template/functions/istio/istio-functions.ts';
import { sprigFunctions } from '../../template/functions/sprig/sprig-functions.ts';

/** What templates may call beside Go's builtins; Istio's functions replace sprig's of the same name. */
export const templateFunctions: FunctionTable = { ...sprigFunctions, ...istioFunctions };
