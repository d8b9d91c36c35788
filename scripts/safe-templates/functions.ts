import { builtins } from '../../src/template/functions/go/builtins.ts';
import { functionsOfFamily } from '../../src/template/functions/go/function-families.ts';
import { signatures } from '../template-recorder/functions.ts';

/** The kind of an expression's result. */
export type Kind = 'text' | 'bool' | 'number' | 'list' | 'map' | 'any';

/** All functions by the kind of the result; `any` is the kind of an argument or of its elements. */
const names: Readonly<Record<Kind, string>> = {
  text: `abbrev abbrevboth adler32sum annotation appendMultusNetwork applicationPorts b32dec b32enc b64dec b64enc base camelcase cat clean date dateInZone date_in_zone dir directory duration
    durationRound env excludeInboundPort excludeInterfaces ext formatDuration hello html htmlDate htmlDateInZone includeInboundPorts indent initials join js kebabcase kindOf kubevirtInterfaces
    lower mustRegexFind mustRegexReplaceAll mustRegexReplaceAllLiteral mustToJson mustToPrettyJson mustToRawJson nindent nospace osBase osClean osDir osExt
    otelResourceAttributes plural print printf println protoToJSON quote regexFind regexQuoteMeta regexReplaceAll regexReplaceAllLiteral repeat replace semver seq
    sha1sum sha256sum sha512sum snakecase squote structToJSON substr swapcase title toJSON toJson toJsonMap toLower toPrettyJson toRawJson toString toYaml trim
    trimAll trimPrefix trimSuffix trimall trunc typeOf unixEpoch untitle upper urlJoin urlquery wrap wrapWith`,
  bool: `all any contains deepEqual empty eq ge gt has hasKey hasPrefix hasSuffix isAbs isset kindIs le lt mustHas mustRegexMatch ne not osIsAbs regexMatch
    semverCompare typeIs typeIsLike`,
  number: `add add1 add1f addf atoi biggest ceil div divf float64 floor int int64 len max maxf min minf mod mul mulf round sub subf toDecimal`,
  list: `append chunk compact concat initial keys list mustAppend mustChunk mustCompact mustInitial mustPrepend mustPush mustRegexFindAll mustRegexSplit mustRest
    mustReverse mustSlice mustUniq mustWithout pluck prepend push regexFindAll regexSplit rest reverse slice sortAlpha splitList toStrings tuple uniq until untilStep
    values without`,
  map: `dict fromJSON fromJson merge mergeMaps mergeOverwrite mustFromJson mustMerge mustMergeOverwrite omit pick set split splitn strdict unset urlParse`,
  any: `and call coalesce dateModify date_modify deepCopy default dig first get index last mustDateModify mustDeepCopy mustFirst mustLast mustToDate
    must_date_modify omitNil or ternary toDate valueOrDefault`,
};

/** The names of the functions that return a kind. */
export const functionsGiving: Readonly<Record<Kind, readonly string[]>> = {
  text: wordsOf(names.text),
  bool: wordsOf(names.bool),
  number: wordsOf(names.number),
  list: wordsOf(names.list),
  map: wordsOf(names.map),
  any: wordsOf(names.any),
};

function wordsOf(text: string): string[] {
  return text.split(/\s+/);
}

/** The functions without a result. */
export const statementFunctions: readonly string[] = ['fail'];

/** The signatures of functions that the Go recorder does not have. */
const furtherSignatures: Readonly<Record<string, readonly string[]>> = {
  annotation: ['meta', 'name', 'any'],
  appendMultusNetwork: ['string', 'string'],
  applicationPorts: ['containers'],
  excludeInboundPort: ['any', 'string'],
  excludeInterfaces: ['string'],
  formatDuration: ['duration'],
  includeInboundPorts: ['containers'],
  kubevirtInterfaces: ['string'],
  omitNil: ['any'],
  otelResourceAttributes: ['mesh', 'stringMap', 'stringMap', 'string', 'containers'],
  protoToJSON: ['message'],
};

/** Returns the parameters of a function. A last `…` means that the parameter before it repeats. */
export function signatureOf(name: string): readonly string[] {
  const known = Object.hasOwn(furtherSignatures, name) ? furtherSignatures : signatures;
  return known[name] ?? [];
}

/** Returns the functions that no random template uses, because the lists above lack them. */
export function missingFunctions(): string[] {
  const listed = new Set([...Object.values(functionsGiving).flat(), ...statementFunctions]);
  return [...Object.keys(functionsOfFamily('istio')), ...Object.keys(builtins)].filter((name) => !listed.has(name));
}
