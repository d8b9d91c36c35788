/**
 * Checks types, lints all files, and lists exported names of src with several definitions, all with
 * the same TypeScript programs. `tsc` and `eslint .` would each check the types of all files.
 */
import { ESLint } from 'eslint';
import ts from 'typescript';

const host: ts.ParseConfigFileHost = {
  ...ts.sys,
  onUnRecoverableConfigFileDiagnostic: ({ messageText }) => {
    throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
  },
};
/** The page runs in browsers, which have other globals. */
const programs = ['tsconfig.json', 'src/web/page/tsconfig.json'].map((file) => {
  const config = ts.getParsedCommandLineOfConfigFile(file, {}, host);
  if (config === undefined) throw new Error(`${file} cannot be read`);
  return { program: ts.createProgram(config.fileNames, config.options), errors: config.errors };
});
const mistyped = programs.flatMap(({ program, errors }) => [...errors, ...ts.getPreEmitDiagnostics(program)]);
const canonical = (file: string): string => file;
const format = { getCanonicalFileName: canonical, getCurrentDirectory: () => process.cwd(), getNewLine: () => '\n' };
process.stdout.write(ts.formatDiagnostics(mistyped, format));

const definitions = new Map<string, Set<string>>();
for (const { program } of programs) {
  const checker = program.getTypeChecker();
  for (const source of program.getSourceFiles()) {
    const [, file = ''] = /\/(src\/.*)$/.exec(source.fileName) ?? [];
    const module = checker.getSymbolAtLocation(source);
    // The ports have the names of Node's functions.
    if (module === undefined || source.fileName.includes('/node_modules/')) continue;
    if (!/^src\/(?!web\/ports\/|.*(?:\.test\.ts$|testdata\/))/.test(file)) continue;
    for (const { name, flags } of checker.getExportsOfModule(module))
      if ((flags & ts.SymbolFlags.Alias) === 0) definitions.set(name, (definitions.get(name) ?? new Set()).add(file));
  }
}
const ambiguous = [...definitions].filter(([, files]) => files.size > 1);
for (const [name, files] of ambiguous) console.log(`${name} has several definitions: ${[...files].join(', ')}`);

const parserOptions = { projectService: false, programs: programs.map(({ program }) => program) };
const eslint = new ESLint({ overrideConfig: { files: ['**/*.ts', '**/*.tsx'], languageOptions: { parserOptions } } });
const results = await eslint.lintFiles('.');
const formatter = await eslint.loadFormatter('stylish');
process.stdout.write(await formatter.format(results));
const isLinted = results.every(({ errorCount }) => errorCount === 0);
process.exitCode = mistyped.length === 0 && ambiguous.length === 0 && isLinted ? 0 : 1;
