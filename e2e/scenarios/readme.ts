import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { goldenFolder } from '../../bench/benchmarks.ts';
import { describeEvent } from '../harness/audit-log.ts';
import { buildKubectl } from '../harness/build.ts';
import { cleanCopy } from '../harness/clean-copy.ts';
import { waitForCondition } from '../harness/injector-configs.ts';
import { installChart } from '../harness/installation.ts';
import { paths } from '../harness/paths.ts';
import { Replicas } from '../harness/replicas/replicas.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { administratorKubeconfig } from '../harness/service-account.ts';
import { runInShell } from '../harness/shell.ts';
import { none } from '../harness/wait-for.ts';

/** Expected outputs and exit codes (default 0; 124 stops the command), by the command's start. */
type Expected = readonly (readonly [command: string, output: RegExp, code?: number])[];

const ofReadme: Expected = [
  [
    'make demo',
    /the API server has validated\n {3}its pods [^]*its containers: hello \(busybox:1\.36\), sleep[^]*; nothing is left running/,
  ],
  ['node dist/injector.cjs inject', /name: hello\n/],
  ['injector install', /runs in namespace sidecar-injector-system/],
  ['injector status', /\ndefault +default +0 /],
  ['injector uninstall', /MutatingWebhookConfiguration .*: deleted/],
];
const ofDemo: Expected = [
  ['kubectl get injectorconfigs', /\ndefault +default +True +Serving +\d+s /],
  ['injector check deployment/sleep', /Injected/],
  ['kubectl wait --for=condition=Ready icfg/istio-1-1', /condition met/],
  ['injector status', /Deployment\/sleep .*\n.* it would get InjectorConfig istio-1-1/, 3],
  ['kubectl rollout status', /successfully rolled out/],
  ['injector revisions', /\nistio-1-1 +istio-1-1 +True .* demo +1 /],
  ['tail -f', /InjectorConfig/i, 124],
  ['make down', /stopped .*operator/],
];
/** Targets that run on the cluster of the first demo, which starts like that of `make up`. */
const clusterTargets = ['up', 'kubeconfig', 'demo', 'e2e SCENARIO=foreign-comes-and-goes'];
// Omits `clean`. `gates` and `bench` run other targets.
const otherTargets = ['help', 'e2e-list', 'down', 'verify'];
const longTargets = ['build', 'format', 'unit', ...(goldenFolder() === undefined ? [] : ['conformance'])];

export const readme: Scenario = {
  name: 'readme',
  about:
    "in a clean copy of the repository, with only Node, Go and Debian's base tools on the PATH, each command of the README works, the demo runs twice on one cluster, each command that it prints works, and make targets send no request to the cluster that an exported KUBECONFIG names",
  destructive: 'it installs and uninstalls the operator',
  ownControlPlane: true,
  full: 'also runs make test, build, format, unit and conformance, 20 minutes',
  run: async (context) => {
    const { client, cluster } = context;
    await buildKubectl((line) => context.say(line));
    const [copy, programs] = [cleanCopy(), mkdtempSync(join(tmpdir(), 'injector-path-'))];
    const standing = join(copy, '.build', 'cluster');
    const { kubeconfig, requests } = await otherUser(context);
    const variables = { PATH: bareTools(programs), MAKEFLAGS: '', CLUSTER: undefined, KEEP: undefined };
    const exported: NodeJS.ProcessEnv = { ...process.env, ...variables, KUBECONFIG: kubeconfig };
    exported.GOLDEN = goldenFolder();
    /** Runs a command in the copy, and checks its exit code and output. Returns the output. */
    const run = async (statement: string, line: string, expected: Expected, setup = '', environment = exported) => {
      const [, output = /(?:)/, code = 0] = expected.find(([command]) => line.startsWith(command)) ?? [];
      const script = ['shopt -s expand_aliases', setup, line].join('\n');
      const said = await runInShell(script, environment, { folder: copy, isEndless: code === 124 });
      const isWrong = said.code !== code || !output.test(said.text);
      await context.checkNow(statement, () => none(isWrong ? [`${said.code}: ${said.text.slice(-500)}`] : []));
      return said.text;
    };
    context.atEnd(async () => {
      if (existsSync(standing)) await runInShell('make down', exported, { folder: copy });
      // A command that was interrupted may still write.
      for (const folder of [copy, programs]) rmSync(folder, { recursive: true, maxRetries: 5, retryDelay: 500 });
    });
    await runInShell(`node ${paths.injector} status`, exported);
    const before = requests().length;
    const recorded = 'negative control: the audit log records the requests of injector status';
    await context.checkNow(recorded, () => before > 0);

    const text = readFileSync(join(copy, 'README.md'), 'utf8');
    const [alias = ''] = /alias injector="[^"]+"/.exec(text) ?? [];
    const blocks = [...text.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].filter(([, language]) => language === '');
    const printed: string[] = [];
    for (const line of blocks.flatMap(([, , block = '']) => block.trim().split('\n'))) {
      // `make test` would run this scenario again. CI runs `make test` separately.
      if (line.startsWith('make test') && context.size === 'short') continue;
      // make prints the commands that it runs, and stops when a command fails.
      if (printed.includes(line)) {
        await context.checkNow(`'${line}' works`, () => existsSync(join(copy, 'node_modules')));
        continue;
      }
      const usesCluster = /^(?:injector|kubectl) /.test(line);
      const environment = usesCluster ? { ...exported, KUBECONFIG: cluster.kubeconfig } : exported;
      const runLine = async () => {
        printed.push(...(await run(`'${line}' works`, line, ofReadme, alias, environment)).split('\n'));
      };
      if (!line.startsWith('injector install')) {
        await runLine();
      } else {
        const installation = await installChart(cluster, 'sidecar-injector-system', {}, runLine);
        const { seed } = context;
        const replicas = await Replicas.start(cluster, installation, { webhooks: 1, controllers: 1, seed });
        context.atEnd(() => replicas.stop());
      }
      if (line.startsWith('kubectl apply')) await waitForCondition(client, 'default', 'Ready', 'True');
    }

    const runTargets = async (targets: readonly string[]): Promise<void> => {
      for (const target of targets) {
        await run(`make ${target} exits with 0`, `make ${target}`, []);
        await context.checkNow(`make ${target} sends no request to the cluster that KUBECONFIG names`, () =>
          none(requests().slice(before)),
        );
      }
    };
    const shown: Expected = [['KEEP=1', /sleep-\S+ +2\/2 +Running/]];
    await run('the first demo shows an injected pod', 'KEEP=1 make demo', shown);
    await runTargets(clusterTargets);
    const same: Expected = [['KEEP=1', /the control plane at .*, which runs until `make down`/]];
    const second = await run('the second demo uses the same cluster', 'KEEP=1 make demo', same);
    const [, list = ''] = second.split('Try more');
    const lines = [...list.matchAll(/^ {3}(.*)$/gm)].map(([, line = '']) => line);
    await context.checkNow('the list contains each expected command once', () =>
      ofDemo.every(([command]) => lines.filter((line) => line.startsWith(command)).length === 1),
    );
    const isSetting = (line: string): boolean => /^(?:export|alias) /.test(line);
    const setup = lines.filter(isSetting).join('\n');
    for (const line of lines.filter((each) => !isSetting(each)))
      await run(`the printed command works: ${line}`, line, ofDemo, setup);
    await context.checkNow('no directory of the demo remains', () => !existsSync(standing));

    await runTargets([...otherTargets, ...(context.size === 'full' ? longTargets : [])]);
    await context.check('no process of the copy remains', () => spawnSync('pgrep', ['-f', copy]).status === 1);
    return `${context.passed} checks of the README, the demo and make targets`;
  },
};

/** Creates a user with all rights on this cluster. Returns a kubeconfig, and a list of requests. */
async function otherUser(context: ScenarioContext) {
  const namespace = await context.namespace('system');
  const name = 'user';
  const audit = context.requireAudit();
  const isTheirs = (username: string): boolean => username === `system:serviceaccount:${namespace}:${name}`;
  return {
    kubeconfig: await administratorKubeconfig(context.cluster, namespace, name),
    requests: () => audit.events().flatMap((event) => (isTheirs(event.user.username) ? describeEvent(event) : [])),
  };
}

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
  // The package of awk lacks this link, which update-alternatives makes.
  own.push('/usr/bin/awk');
  const all = [...files.filter((each) => /^(?:\/usr)?\/s?bin\/[^/]+$/.test(each)), ...own];
  for (const [name, file] of new Map(all.map((each) => [basename(each), each]))) symlinkSync(file, join(folder, name));
  return folder;
}
