/**
 * Tests the scripts of `injector completion` in each installed shell, including the completion of
 * object names from a fake cluster. CI installs the shells first (.ci/run).
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { FakeApiServer, json } from '../src/kube/testdata/fake-api-server.ts';

/**
 * The script with which each shell prints the completions of a line. `load` prints the completion
 * script of the shell.
 */
const shells: Readonly<Record<string, (load: string, words: string, count: number, line: string) => string>> = {
  bash: (load, words, count) =>
    `alias ij='node injector'; source <(${load}); COMP_WORDS=(${words}); COMP_CWORD=${count - 1}; _injector; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // zsh has no match list outside its line editor, so compadd prints the matches.
  zsh: (load, words, count) =>
    `alias ij='node injector'; autoload -U compinit; compinit -D; source <(${load}); _files() { }; compadd() { print -l -- \${(P)2} }
     words=(${words}); CURRENT=${count}; $_comps[injector]`,
  fish: (load, _words, _count, line) =>
    `alias ij='node injector'; complete -e ij; complete -c ij -w injector; ${load} | source; complete -C '${line}'`,
};

const rows: readonly [line: string, expected: string][] = [
  ['injector ta', 'tag'],
  ['injector certs p', 'patch-ca-bundle'],
  ['ij certs p', 'patch-ca-bundle'],
  ['injector tag set prod --over', '--overwrite'],
  ['injector revisions -o j', 'json'],
  ['injector completion ', 'bash fish powershell zsh'],
  ['injector tag watch pr', 'prod prod-canary'],
  ['injector tag set prod --overwrite -r ', '1-24 1-25'],
  ['injector disable -r 1-24 1-2', '1-24 1-25'],
  ['injector status --stale -n s', 'shop'],
  ['injector tag watch --kubeconfig /nowhere nothing-is-called-so', ''],
];
const names: Readonly<Record<string, readonly string[]>> = {
  injectorconfigs: ['1-24', '1-25'],
  revisiontags: ['prod', 'prod-canary'],
  namespaces: ['default', 'shop'],
};

const server = new FakeApiServer(({ path: url }, response) => {
  const items = names[url.split('/').at(-1) ?? ''] ?? [];
  json(response, 200, { metadata: {}, items: items.map((name) => ({ metadata: { name } })) });
});
await server.start();
const folder = mkdtempSync(path.join(tmpdir(), 'injector-completion-'));
symlinkSync(path.resolve('dist/injector.cjs'), path.join(folder, 'injector'));
writeFileSync(path.join(folder, 'kubeconfig'), server.kubeConfig().exportConfig());
const env = {
  ...process.env,
  HOME: folder,
  KUBECONFIG: path.join(folder, 'kubeconfig'),
  PATH: `${folder}:${process.env['PATH'] ?? ''}`,
};
const count = { passed: 0, failed: 0 };
for (const [shell, script] of Object.entries(shells)) {
  const run = (text: string) => promisify(execFile)(shell, ['-c', text], { env, cwd: folder });
  if (!(await run('exit 0').then(Boolean, () => false))) {
    console.log(`${shell} is not installed, so its completion is not tested`);
    continue;
  }
  // The first row loads the script as the documents say. The other rows save a process each.
  writeFileSync(path.join(folder, 'script'), (await run(`injector completion ${shell}`)).stdout);
  for (const [index, [line, expected]] of rows.entries()) {
    const words = line.split(' ').map((word) => `'${word}'`);
    const load = index === 0 ? `injector completion ${shell}` : 'cat script';
    const { stdout, stderr } = await run(script(load, words.join(' '), words.length, line));
    const found = stdout.split(/\s+/).filter(Boolean).sort().join(' ');
    const isRight = found === expected && stderr === '';
    count[isRight ? 'passed' : 'failed'] += 1;
    if (!isRight) console.log(`FAIL  ${shell}: ${line}: expected "${expected}", got "${found}" ${stderr}`);
  }
}
rmSync(folder, { recursive: true });
await server.stop();
console.log(`${count.passed} passed, ${count.failed} failed`);
process.exitCode = count.failed === 0 ? 0 : 1;
