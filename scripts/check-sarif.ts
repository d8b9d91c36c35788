/**
 * Validates the SARIF of `injector lint` with Microsoft's Sarif.Multitool, for our examples and for
 * the example of each rule. Installs the validator from npm (100 MB) into .build/sarif.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';

const validator = '@microsoft/sarif-multitool-linux@5.7.0';
const folder = '.build/sarif';
const program = `${folder}/node_modules/${validator.slice(0, validator.lastIndexOf('@'))}/Sarif.Multitool`;

mkdirSync(folder, { recursive: true });
if (!existsSync(program)) {
  const options = ['--ignore-scripts', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', '--prefix', folder, ...options, validator], { stdio: 'inherit' });
  chmodSync(program, 0o755);
}

/** Validates a log. Returns the messages of the validator, and the number of results in the log. */
function validate(name: string, paths: readonly string[]): { messages: string[]; results: number } {
  const options = { encoding: 'utf8', maxBuffer: 1 << 28 } as const;
  const { stdout: log } = spawnSync(process.execPath, ['dist/injector.cjs', 'lint', ...paths, '-o', 'sarif'], options);
  const file = `${folder}/${name}.sarif`;
  writeFileSync(file, log);
  const { runs } = JSON.parse(log) as { runs: { results: unknown[] }[] };
  const environment = { ...process.env, DOTNET_SYSTEM_GLOBALIZATION_INVARIANT: '1' };
  const { stdout, stderr, status } = spawnSync(program, ['validate', file], { ...options, env: environment });
  const messages = `${stdout}${stderr}`.split('\n').filter((line) => /: (?:error|warning) \w+:/.test(line));
  if (status !== 0) messages.push(`the validator ended with ${String(status)}: ${stdout}${stderr}`);
  return { messages, results: runs[0]?.results.length ?? 0 };
}

const logs = [validate('examples', ['examples']), validate('rules', ['docs/lint'])];
const messages = logs.flatMap((each) => each.messages);
for (const message of messages) console.error(message);
const results = logs.reduce((sum, each) => sum + each.results, 0);
console.log(`${validator}: ${logs.length} logs with ${results} results, ${messages.length} messages`);
if (messages.length > 0 || results === 0) process.exitCode = 1;
