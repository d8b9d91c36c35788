import type { FunctionTable } from '../../template/go-function.ts';

/** What templates may call beside Go's builtins. */
export const templateFunctions: FunctionTable = {};
