import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { buildKubectl } from '../harness/build.ts';
import { cleanCopy } from '../harness/clean-copy.ts';
import { waitForCondition } from '../harness/injector-configs.ts';
import { installChart } from '../harness/installation.ts';
import { paths } from '../harness/paths.ts';
import { Replicas } from '../harness/replicas/replicas.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { runInShell } from '../harness/shell.ts';
import { none } from '../harness/wait-for.ts';

/** The expected outputs of commands, by the beginning of the command. */
const expected: readonly (readonly [command: string, output: RegExp])[] = [
  ['make demo', /its containers: hello \(busybox:1\.36\), sleep/],
  ['node dist/injector.cjs inject', /name: hello\n/],
  ['injector install', /runs in namespace sidecar-injector-system/],
  ['injector status', /\ndefault +default +0 /],
  ['injector uninstall', /MutatingWebhookConfiguration .*: deleted/],
];

export const readme: Scenario = {
  name: 'readme',
  about:
    "each command of the README works as printed in a clean copy of the repository, with only Node, Go and Debian's base tools on the PATH",
  destructive: 'it installs and uninstalls the operator',
  ownControlPlane: true,
  full: 'also runs make test, 10 minutes',
  run: async (context) => {
    const { client, cluster } = context;
    await buildKubectl((line) => {
      context.say(line);
    });
    const copy = cleanCopy();
    const programs = mkdtempSync(join(tmpdir(), 'injector-path-'));
    const text = readFileSync(join(copy, 'README.md'), 'utf8');
    const [alias = ''] = /alias injector="[^"]+"/.exec(text) ?? [];
    const blocks = [...text.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].filter(([, language]) => language === '');
    const lines = blocks.flatMap(([, , block = '']) => block.trim().split('\n'));
    const environment = { ...process.env, PATH: bareTools(programs), KUBECONFIG: cluster.kubeconfig, MAKEFLAGS: '' };
    const runLine = async (line: string) => {
      const said = await runInShell(`shopt -s expand_aliases\n${alias}\n${line}`, environment, { folder: copy });
      const output = expected.find(([command]) => line.startsWith(command))?.[1] ?? /(?:)/;
      const isWrong = said.code !== 0 || !output.test(said.text);
      await context.checkNow(`'${line}' works`, () => none(isWrong ? [`${said.code}: ${said.text.slice(-500)}`] : []));
    };
    try {
      for (const line of lines) {
        // `make test` would run this scenario again. CI runs `make test` separately.
        if (line.startsWith('make test') && context.size === 'short') continue;
        if (!line.startsWith('injector install')) {
          await runLine(line);
        } else {
          const installation = await installChart(cluster, 'sidecar-injector-system', {}, () => runLine(line));
          const replicas = await Replicas.start(cluster, installation, {
            webhooks: 1,
            controllers: 1,
            seed: context.seed,
          });
          context.atEnd(() => replicas.stop());
        }
        if (line.startsWith('kubectl apply')) await waitForCondition(client, 'default', 'Ready', 'True');
      }
    } finally {
      for (const folder of [copy, programs]) rmSync(folder, { recursive: true });
    }
    return `${String(context.passed)} commands of the README work`;
  },
};

/** Links Debian's base tools, Node, npm, Go, make and kubectl. Other systems use the whole PATH. */
function bareTools(folder: string): string {
  const packages = spawnSync('dpkg-query', ['-W', '-f', '${Package} ${Priority} ${Essential}\n'], { encoding: 'utf8' });
  if (packages.status !== 0) return process.env['PATH'] ?? '';
  const base = packages.stdout.split('\n').filter((line) => / (?:required|important|\S+ yes)/.test(line));
  const names = base.map((line) => line.replace(/ .*/, ''));
  const files = execFileSync('dpkg-query', ['-L', ...names, 'make'], { encoding: 'utf8' }).split('\n');
  const node = dirname(process.execPath);
  const go = execFileSync('go', ['env', 'GOROOT'], { encoding: 'utf8' }).trim();
  const own = [...['node', 'npm', 'npx'].map((name) => join(node, name)), join(go, 'bin', 'go'), paths.kubectl];
  for (const file of new Set([...files.filter((each) => /^(?:\/usr)?\/s?bin\/[^/]+$/.test(each)), ...own]))
    spawnSync('ln', ['-sf', file, join(folder, basename(file))]);
  return folder;
}
