import type { FunctionTable } from '../go/go-function.ts';
import { dictionaryFunctions } from './dictionaries.ts';
import { timeFunctions } from './times.ts';
import { encodingFunctions } from './encoding.ts';
import { listFunctions } from './lists.ts';
import { numberFunctions } from './numbers.ts';
import { pathFunctions } from './paths.ts';
import { regularExpressionFunctions } from './text/regular-expressions.ts';
import { stringFunctions } from './text/strings.ts';
import { urlFunctions } from './urls.ts';
import { valueFunctions } from './values.ts';
import { versionFunctions } from './versions.ts';

/**
 * The functions of sprig v3 (TxtFuncMap) whose results depend on nothing but their arguments. What is left out, and why, is in
 * `omitted-functions.ts`.
 */
export const sprigFunctions: FunctionTable = {
  ...dictionaryFunctions,
  ...timeFunctions,
  ...encodingFunctions,
  ...listFunctions,
  ...numberFunctions,
  ...pathFunctions,
  ...regularExpressionFunctions,
  ...stringFunctions,
  ...urlFunctions,
  ...valueFunctions,
  ...versionFunctions,
};
