/** A deliberate mistake in the check: replacements of one text each in files of src. */
export interface PlantedMistake {
  readonly title: string;
  readonly edits: readonly { readonly file: string; readonly from: string; readonly to: string }[];
}

function mistake(title: string, file: string, from: string, to: string): PlantedMistake {
  return { title, edits: [{ file: `inject/safety/${file}`, from, to }] };
}

/** The oracle must find a leak in an engine with any of these. They know the code: whoever changes it adapts them. */
export const plantedMistakes: readonly PlantedMistake[] = [
  mistake(
    '`and` shows its arguments, and what only shows is not compared',
    'check-author-texts.ts',
    "const written = forbidden.filter(({ kind }) => kind !== 'field');",
    "const written = forbidden.filter(({ kind, name }) => kind !== 'field' && useOf(kind === 'label' ? reads.labels : reads.annotations, name)?.steers === true);",
  ),
  mistake(
    'an empty text is as good as none',
    'check-author-texts.ts',
    "const written = forbidden.filter(({ kind }) => kind !== 'field');",
    "const written = forbidden.filter(({ kind, value }) => kind !== 'field' && value !== '');",
  ),
  mistake(
    'only `-c` takes an operand, not `-ec`',
    'arguments.ts',
    "return argument.startsWith('-') && !argument.includes('=') && !flag.test(argument);",
    "return argument === '-c';",
  ),
  mistake(
    'only `sh -c` is a shell, and arguments of others are free',
    'arguments.ts',
    'const fixed: string[] = [];',
    "if (command[0] !== 'sh' || command[1] !== '-c') return { fixed: [], flags: [] };\n  const fixed: string[] = [];",
  ),
  mistake(
    'arguments are free',
    'arguments.ts',
    'const fixed: string[] = [];',
    'if (args.length > 0) return { fixed: [], flags: [] };\n  const fixed: string[] = [];',
  ),
  mistake(
    'null is as good as absent',
    'value-places.ts',
    'const fixed: Rule = (comparison, left, right) => {',
    'const fixed: Rule = (comparison, left, right) => {\n  if ((left ?? null) === null && (right ?? null) === null) return undefined;',
  ),
  mistake(
    'any name of a variable will do',
    'value-places.ts',
    "return typeof name === 'string' && comparison.own.has(name);",
    'return true;',
  ),
  mistake(
    'the order of containers is nothing',
    'value-places.ts',
    'spec: members({ containers: each(container), initContainers: each(container) }),',
    'spec: members({ containers: (c, l, r) => each(container)(c, [...byName(listOf(l))].sort().map(([, one]) => one), [...byName(listOf(r))].sort().map(([, one]) => one)), initContainers: each(container) }),',
  ),
  mistake(
    'a twin is the text itself',
    'harmless-text.ts',
    "const twin = text.replace(/[^A-Za-z0-9./-]|^[./-]|[./-]$|[./-](?![A-Za-z0-9])/g, '_');",
    'const twin = text;',
  ),
  mistake(
    'a variable from a Secret may come and go',
    'value-places.ts',
    'return isPlain && isOwn(comparison, one.name) ? undefined : [...comparison.place, key];',
    'return isJsonObject(one) && isOwn(comparison, one.name) ? undefined : isPlain ? [...comparison.place, key] : undefined;',
  ),
  mistake('a probe may run what an author says', 'value-places.ts', "new Set(['exec', 'host'])", "new Set(['host'])"),
  mistake('labels are not looked at', 'author-inputs.ts', "...mapInputs('label', labels)]", ']'),
  mistake(
    'a comparison that was passed is passed with other texts too',
    'author-guard.ts',
    'areSame(one.texts, texts) && areSame',
    'areSame',
  ),
];
