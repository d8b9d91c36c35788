import { goFunction, type FunctionTable } from '../go/go-function.ts';
import { string } from '../../exec/parameters.ts';
import { dictionaryFunctions } from './dictionaries.ts';
import { timeFunctions } from './times.ts';
import { withForms } from './elements.ts';
import { encodingFunctions } from './encoding.ts';
import { listFunctions } from './lists.ts';
import { numberFunctions } from './numbers.ts';
import { regularExpressionFunctions } from './text/regular-expressions.ts';
import { stringFunctions } from './text/strings.ts';
import { urlFunctions } from './urls.ts';
import { valueFunctions } from './values.ts';
import { versionFunctions } from './versions.ts';

/** Go's path.Clean: returns the shortest equivalent path. */
function clean(path: string): string {
  const rooted = path.startsWith('/');
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (!rooted) parts.push(part);
  }
  return (rooted ? '/' : '') + parts.join('/') || '.';
}

/** Go's path.Base: returns the last element, without trailing slashes. */
function base(path: string): string {
  if (path === '') return '.';
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return end === 0 ? '/' : path.slice(path.lastIndexOf('/', end - 1) + 1, end);
}

/** Go's path.Ext: returns the last element from its last dot on. */
function extension(path: string): string {
  const last = path.slice(path.lastIndexOf('/') + 1);
  return last.includes('.') ? last.slice(last.lastIndexOf('.')) : '';
}

/** sprig's functions on paths. The `os` functions do the same, as on Linux. */
const pathFunctions: FunctionTable = withForms('os', {
  base: goFunction([string], base),
  clean: goFunction([string], clean),
  dir: goFunction([string], (path) => clean(path.slice(0, path.lastIndexOf('/') + 1))),
  ext: goFunction([string], extension),
  isAbs: goFunction([string], (path) => path.startsWith('/')),
});

/** sprig v3's functions (TxtFuncMap) that depend only on arguments; see `omitted-functions.ts`. */
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
