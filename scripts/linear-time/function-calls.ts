import { builtins } from '../../src/template/functions/go/builtins.ts';
import { functionsOfFamily } from '../../src/template/functions/go/function-families.ts';
import type { FunctionTable } from '../../src/template/functions/go/go-function.ts';
import { compileTemplate } from '../../src/template/template.ts';
import type { GoType } from '../../src/template/go-type.ts';
import type { Prepared } from './growth.ts';
import { searchFamilies, textFamilies } from './hostile-families.ts';

/** A call of a function with one or two hostile arguments. */
export interface FunctionCall {
  readonly name: string;
  readonly prepare: Prepared;
  readonly length: number;
}

const longestText = 131_072;
const longestList = 8192;
/** The factor between the lengths in long and short runs. */
const shortened = 8;

/** Lists and maps with a number of elements. */
const collections: Readonly<Record<string, (length: number) => unknown>> = {
  'different texts': (length) => Array.from({ length }, (_, index) => `a${index}`),
  'equal texts': (length) => Array.from({ length }, () => 'a'),
  'different maps': (length) => Array.from({ length }, (_, index) => ({ name: `a${index}`, n: { m: index } })),
  'lists of one': (length) => Array.from({ length }, (_, index) => [index]),
  'a map': (length) => Object.fromEntries(Array.from({ length }, (_, index) => [`a${index}`, `b${index}`])),
};

/** Calls that must take more than linear time, each with its reason. */
const inherent: ReadonlyMap<string, string> = new Map([
  ['replace, arguments 2 and 3', 'the result is as long as the product; the limit of an execution bounds it'],
  ['mustRegexReplaceAll, arguments 2 and 3', 'the reason of replace'],
  ['mustRegexReplaceAllLiteral, arguments 2 and 3', 'the reason of replace'],
]);

/** Returns calls of all functions, or of the `planted` functions, for each argument in turn. */
export function* functionCalls(thorough: boolean, planted: FunctionTable = {}): Generator<FunctionCall> {
  const families = textFamilies(thorough);
  const [textLength, listLength] = thorough
    ? [longestText, longestList]
    : [longestText / shortened, longestList / shortened];
  const own = Object.keys(planted).length > 0;
  const functions: FunctionTable = own ? planted : { ...builtins, ...functionsOfFamily('istio') };
  const known = { ...functionsOfFamily('istio'), ...planted };
  const seen = new Set<unknown>();
  for (const [name, made] of Object.entries(functions).sort(([left], [right]) => (left < right ? -1 : 1))) {
    if (seen.has(made) || name === 'call') continue;
    seen.add(made);
    const types: GoType[] = [...made.parameters, ...(made.rest === undefined ? [] : [made.rest, made.rest])];
    const run = (values: (length: number) => Record<string, unknown>): Prepared => {
      const template = compileTemplate(`{{ $x := ${[name, ...types.map((_, index) => `.a${index}`)].join(' ')} }}`, {
        name: 'call',
        functions: known,
      });
      return (length) => {
        const data = values(length);
        return () => template.execute(data);
      };
    };
    for (const [index, type] of types.entries()) {
      const isText = type.kind === 'string';
      const isAny = type.kind === 'interface' || type.kind === 'reflected';
      const others = (hostile: Record<string, unknown>): Record<string, unknown> => ({
        ...plainArguments(types),
        ...hostile,
      });
      if (isText || isAny) {
        for (const family of families)
          yield {
            name: `${name}, argument ${index + 1}: ${family.name}`,
            length: textLength,
            prepare: run((length) => others({ [`a${index}`]: family.text(length) })),
          };
        const pair = `${name}, arguments ${index + 1} and ${index + 2}`;
        for (const family of index + 1 < types.length && !inherent.has(pair) ? searchFamilies : [])
          yield {
            name: `${pair}: ${family.name}`,
            length: textLength,
            prepare: run((length) => {
              const [part, text] = family.texts(length);
              return others({ [`a${index}`]: part, [`a${index + 1}`]: text });
            }),
          };
      }
      if (isText) continue;
      for (const [kind, make] of Object.entries(collections)) {
        if (type.kind === 'int' || type.kind === 'bool' || type.kind === 'float64') continue;
        yield {
          name: `${name}, argument ${index + 1}: ${kind}`,
          length: listLength,
          prepare: run((length) => others({ [`a${index}`]: make(length) })),
        };
        yield {
          name: `${name}, all arguments: ${kind}`,
          length: listLength,
          prepare: run((length) =>
            others(
              Object.fromEntries(
                types.flatMap((one, place) => (one.kind === type.kind ? [[`a${place}`, make(length)]] : [])),
              ),
            ),
          ),
        };
      }
    }
  }
}

/** Returns ordinary arguments. */
function plainArguments(types: readonly GoType[]): Record<string, unknown> {
  return Object.fromEntries(types.map(({ kind }, index) => [`a${index}`, plainArgument(kind)]));
}

function plainArgument(kind: GoType['kind']): unknown {
  switch (kind) {
    case 'string':
      return 'a';
    case 'int':
      return 7n;
    case 'bool':
      return true;
    case 'float64':
      return 1.5;
    case 'map':
      return { a: 'a' };
    default:
      return 'a';
  }
}
