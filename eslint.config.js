import eslint from '@eslint/js';
import stylistic from '@stylistic/eslint-plugin';
import tseslint from 'typescript-eslint';
import unusedWords from './scripts/english/words.cjs';

/** A name is camel case: a word stands between a small and a capital letter, or at an end. */
const inName = (word) => `(^|[^a-zA-Z])${word}(?![a-z])|${word[0].toUpperCase()}${word.slice(1)}(?![a-z])`;
const oldWords = unusedWords.flatMap(([word, instead]) => {
  const message = `"${word}" is not used here: write ${instead} (scripts/english/words.cjs)`;
  const text = String.raw`/\b${word}\b/i`;
  const name = word.includes(' ') ? [] : [{ selector: `Identifier[name=/${inName(word)}/]`, message }];
  return [
    { selector: `Literal[value=${text}]`, message },
    { selector: `TemplateElement[value.raw=${text}]`, message },
    ...name,
  ];
});

const toStream = 'only src/cli/terminal.ts writes to streams: call `out`, `error` or `document` of a Terminal';
const toLine = 'a line break in a line is escaped: pass each line as an element of an array';
const toShell = 'build commands with commandLine`…` (src/api/command-line.ts), which quotes every argument';
/** A command whose words are not complete at the end of the text. */
const begun = String.raw`/(^|[^a-z.\/-])((kubectl|cmctl) |helm (get|install|upgrade) |injector (tag|check|diff|enable|disable|certs|inject|status|install|release) )[^\u0060;]*$/`;
const output = [
  {
    selector:
      'MemberExpression[object.name="process"][property.name=/^std(out|err)$/]:not(MemberExpression[property.name="isTTY"] > *)',
    message: toStream,
  },
  { selector: 'VariableDeclarator[init.name="process"]', message: toStream },
  { selector: 'ImportDeclaration[source.value=/^(node:)?(process|console|tty)$/]', message: toStream },
  {
    selector: String.raw`CallExpression[callee.object.name="terminal"][callee.property.name=/^(out|error)$/] :matches(Literal[value=/.\n|\n./], TemplateElement[value.raw=/\\n/])`,
    message: toLine,
  },
  {
    selector: 'CallExpression[callee.object.name="terminal"] CallExpression[callee.object.name="JSON"]',
    message: 'use jsonText (src/api/printable-text.ts), which escapes unprintable characters',
  },
  {
    selector: `TemplateLiteral:not(TaggedTemplateExpression[tag.name="commandLine"] > *) > TemplateElement[tail=false][value.raw=${begun}]`,
    message: toShell,
  },
  { selector: `BinaryExpression[operator="+"] > Literal[value=${begun}]`, message: toShell },
  { selector: 'ArrayExpression > Literal[value=/^(kubectl|helm|cmctl)$/]', message: toShell },
];

export default tseslint.config(
  {
    ignores: [
      'dist',
      'release',
      'coverage',
      '.build',
      '**/testdata/**/*.js',
      'node_modules',
      '*.cjs',
      'e2e/controlplane',
      'site',
    ],
  },
  eslint.configs.recommended,
  {
    // Plain English, as far as a machine can tell; .textlintrc.cjs does the same for documents.
    files: ['**/*.ts', '**/*.tsx'],
    plugins: { stylistic },
    rules: {
      // The code's own width is prettier's.
      'stylistic/max-len': ['error', { code: 10_000, comments: 100, ignoreUrls: true }],
      'no-warning-comments': ['error', { terms: unusedWords.map(([word]) => word), location: 'anywhere' }],
      'no-restricted-syntax': ['error', ...oldWords],
    },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: 'error',
      'no-console': 'error',
      'no-eval': 'error',
      'no-new-func': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
    },
  },
  {
    // What a command prints contains texts of other people (CONTRIBUTING.md).
    files: ['src/**/*.ts', 'src/**/*.tsx'],
    ignores: ['**/*.test.ts', '**/testdata/**', 'src/cli/terminal.ts', 'src/cli/main.ts'],
    rules: { 'no-restricted-syntax': ['error', ...oldWords, ...output] },
  },
  {
    // Browsers have no Buffer: an import names what the playground replaces (src/web/ports).
    files: ['src/{api,explain,inject,manifests,routing,selection,template}/**/*.ts'],
    ignores: ['**/*.test.ts', '**/testdata/**'],
    rules: { 'no-restricted-globals': ['error', { name: 'Buffer', message: 'import it from node:buffer' }] },
  },
  {
    // winston types its transports as interfaces, not as the class that its own options ask for.
    files: ['src/cli/logger.ts'],
    rules: { '@typescript-eslint/no-unsafe-class-instance-assignment': 'off' },
  },
  {
    // Tests, scripts and the e2e harness talk to a person on a terminal.
    files: [
      '**/*.test.ts',
      '**/testdata/**/*.ts',
      'scripts/**/*.ts',
      'e2e/**/*.ts',
      'bench/**/*.ts',
      'packaging/**/*.ts',
    ],
    rules: {
      'no-console': 'off',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
);
