/**
 * Checks types and lints all files with one TypeScript program. `tsc` and `eslint .` would each
 * check the types of all files.
 */
import { ESLint } from 'eslint';
import ts from 'typescript';

const host: ts.ParseConfigFileHost = {
  ...ts.sys,
  onUnRecoverableConfigFileDiagnostic: ({ messageText }) => {
    throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
  },
};
const config = ts.getParsedCommandLineOfConfigFile('tsconfig.json', {}, host);
if (config === undefined) throw new Error('tsconfig.json cannot be read');
const program = ts.createProgram(config.fileNames, config.options);
const mistyped = [...config.errors, ...ts.getPreEmitDiagnostics(program)];
const canonical = (file: string): string => file;
const format = { getCanonicalFileName: canonical, getCurrentDirectory: () => process.cwd(), getNewLine: () => '\n' };
process.stdout.write(ts.formatDiagnostics(mistyped, format));

const parserOptions = { projectService: false, programs: [program] };
const eslint = new ESLint({ overrideConfig: { files: ['**/*.ts'], languageOptions: { parserOptions } } });
const results = await eslint.lintFiles('.');
const formatter = await eslint.loadFormatter('stylish');
process.stdout.write(await formatter.format(results));
process.exitCode = mistyped.length === 0 && results.every(({ errorCount }) => errorCount === 0) ? 0 : 1;
