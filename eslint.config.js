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
    ],
  },
  eslint.configs.recommended,
  {
    // Plain English, as far as a machine can tell; .textlintrc.cjs does the same for documents.
    files: ['**/*.ts'],
    plugins: { stylistic },
    rules: {
      // The code's own width is prettier's.
      'stylistic/max-len': ['error', { code: 10_000, comments: 100, ignoreUrls: true }],
      'no-warning-comments': ['error', { terms: unusedWords.map(([word]) => word), location: 'anywhere' }],
      'no-restricted-syntax': ['error', ...oldWords],
    },
  },
  {
    files: ['**/*.ts'],
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
