/**
 * Checks types, lints all files, and lists exported names of src with several definitions, all with
 * one TypeScript program. `tsc` and `eslint .` would each check the types of all files.
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

const checker = program.getTypeChecker();
const definitions = new Map<string, string[]>();
for (const source of program.getSourceFiles()) {
  const [, file = ''] = /\/(src\/.*)$/.exec(source.fileName) ?? [];
  const module = checker.getSymbolAtLocation(source);
  if (module === undefined || !/^src\/(?!.*(?:\.test\.ts$|testdata\/))/.test(file)) continue;
  for (const { name, flags } of checker.getExportsOfModule(module))
    if ((flags & ts.SymbolFlags.Alias) === 0) definitions.set(name, [...(definitions.get(name) ?? []), file]);
}
const ambiguous = [...definitions].filter(([, files]) => files.length > 1);
for (const [name, files] of ambiguous) console.log(`${name} has several definitions: ${files.join(', ')}`);

const parserOptions = { projectService: false, programs: [program] };
const eslint = new ESLint({ overrideConfig: { files: ['**/*.ts'], languageOptions: { parserOptions } } });
const results = await eslint.lintFiles('.');
const formatter = await eslint.loadFormatter('stylish');
process.stdout.write(await formatter.format(results));
const isLinted = results.every(({ errorCount }) => errorCount === 0);
process.exitCode = mistyped.length === 0 && ambiguous.length === 0 && isLinted ? 0 : 1;
