/**
 * Lints the GitHub workflows, which cannot run here, and the shell scripts of the plugin. Also
 * plants each kind of mistake once, and checks that the linters find it.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { buildProgram } from '../e2e/harness/build.ts';

const folder = '.github/workflows';
const pinned = /^\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;

/** Returns the mistakes in a workflow, one per line. */
function mistakesIn(actionlint: string, file: string, text: string): string {
  const used = [...text.matchAll(/\buses: (.*)$/gm)].map(([, action = '']) => action);
  const loose = used.filter((action) => !action.startsWith('./') && !pinned.test(action));
  // actionlint knows the inputs of actions only by their major versions.
  const tagged = text.replaceAll(/@[0-9a-f]{40} # (v\d+).*/g, '@$1');
  const lint = spawnSync(actionlint, ['-stdin-filename', file, '-'], { input: tagged, encoding: 'utf8' });
  const found = lint.status === 0 ? [] : [lint.error?.message ?? `${lint.stdout}${lint.stderr}`];
  return [...loose.map((action) => `${file}: ${action} is not pinned to a commit with its version`), ...found].join(
    '\n',
  );
}

const actionlint = await buildProgram('actionlint', (line) => console.log(line));
const count = { passed: 0, failed: 0 };
const judge = (sentence: string, isRight: boolean, why: string): void => {
  count[isRight ? 'passed' : 'failed'] += 1;
  console.log(isRight ? `  ok  ${sentence}` : `FAIL  ${sentence}: ${why}`);
};
for (const name of readdirSync(folder)) {
  const file = path.join(folder, name);
  const mistakes = mistakesIn(actionlint, file, readFileSync(file, 'utf8'));
  judge(`${file} has no mistake`, mistakes === '', mistakes);
}

const hasShellcheck = spawnSync('shellcheck', ['--version']).status === 0;
const file = path.join(folder, 'release.yml');
const text = readFileSync(file, 'utf8');
const planted: [mistake: string, from: RegExp, to: string, finding: RegExp][] = [
  ['an action pinned to a tag', /@[0-9a-f]{40} # (v\d)/, '@$1', /is not pinned to a commit/],
  [
    'an input that the action does not have',
    /retention-days|if-no-files-found/,
    'if-nothing-found',
    /input "if-nothing-found" is not/,
  ],
  [
    'an output that the job does not have',
    /needs\.build\.outputs\.base /,
    'needs.build.outputs.bass ',
    /property "bass" is not/,
  ],
  ['a permission that does not exist', /id-token: write/, 'id-tokens: write', /unknown permission scope "id-tokens"/],
];
if (hasShellcheck) planted.push(['an unquoted variable, which the shell splits', /"\$VERSION"/, '$VERSION', /SC2086/]);
for (const [mistake, from, to, finding] of planted) {
  const mistakes = mistakesIn(actionlint, file, text.replace(from, to));
  judge(`planted: ${mistake} is found`, finding.test(mistakes), mistakes);
}
if (hasShellcheck) {
  const scripts = readdirSync('packaging/plugin').map((name) => path.join('packaging/plugin', name));
  const { status, stdout } = spawnSync('shellcheck', scripts, { encoding: 'utf8' });
  judge('the scripts of the plugin have no mistake', status === 0, stdout);
} else {
  console.log('shellcheck is not installed, so no shell script is checked');
  // .ci/run installs shellcheck.
  if (process.env['CI'] === 'true') count.failed += 1;
}
console.log(`${count.passed} passed, ${count.failed} failed`);
process.exitCode = count.failed === 0 ? 0 : 1;
