import { existsSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { buildKubectl } from '../harness/build.ts';
import { paths } from '../harness/paths.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { runInShell, type Said } from '../harness/shell.ts';

/** Expected outputs and exit codes (default 0; 124 for a command that the test stops). */
const expected: [command: RegExp, output: RegExp, code?: number][] = [
  [/get injectorconfigs/, /\ndefault +default +True +Serving +\d+s /],
  [/check deployment\/sleep/, /Injected/],
  [/icfg\/istio-1-1/, /condition met/],
  [/injector status/, /Deployment\/sleep .*\n.* it would get InjectorConfig istio-1-1/, 3],
  [/rollout status/, /successfully rolled out/],
  [/injector revisions/, /\nistio-1-1 +istio-1-1 +True .* demo +1 /],
  [/tail -f/, /InjectorConfig/i, 124],
  [/make down/, /stopped .*operator/],
];

const cluster = 'demo-walk';
const directory = join(dirname(paths.standing), cluster);

export const demoWalk: Scenario = {
  name: 'demo-walk',
  about: '`KEEP=1 make demo` runs twice on one cluster, and each command that it prints under "Try more" works',
  run: async (context) => {
    await buildKubectl((line) => {
      context.say(line);
    });
    const environment: NodeJS.ProcessEnv = { ...process.env, STANDING: cluster, KEEP: '1' };
    environment.PATH = `${paths.binaries}${delimiter}${environment.PATH ?? ''}`;
    try {
      const first = await runInShell('make demo', environment);
      await context.checkNow('the first demo shows an injected pod', () => shows(first, /sleep-\S+ +2\/2 +Running/));
      const second = await runInShell('make demo', environment);
      await context.checkNow('the second demo uses the same cluster', () =>
        shows(second, /the control plane at .*, which runs until `make down`/),
      );
      await walk(context, second.text, environment);
      await context.checkNow('no directory of the demo remains', () => !existsSync(directory));
    } finally {
      await runInShell('make down', environment);
      rmSync(directory, { recursive: true, force: true });
    }
    return `${String(context.passed)} checks of the demo and its commands`;
  },
};

async function walk(context: ScenarioContext, printed: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const [, list = ''] = printed.split('Try more');
  const lines = list.split('\n').filter((line) => line.startsWith('   '));
  await context.checkNow('the list contains each expected command once', () =>
    expected.every(([command]) => lines.filter((line) => command.test(line)).length === 1),
  );
  const settings = lines.filter((line) => /^ +(export|alias) /.test(line));
  for (const line of lines.filter((each) => !settings.includes(each))) {
    const [, output = /(?:)/, code = 0] = expected.find(([command]) => command.test(line)) ?? [];
    const script = ['shopt -s expand_aliases', ...settings, line].join('\n');
    const said = await runInShell(script, environment, { isEndless: code === 124 });
    await context.checkNow(`the printed command works: ${line.trim()}`, () => {
      if (said.code !== code) throw new Error(`the command exits with ${String(said.code)}: ${said.text}`);
      return shows(said, output);
    });
  }
}

function shows({ text }: Said, output: RegExp): boolean {
  if (output.test(text)) return true;
  throw new Error(`the command printed ${text}`);
}
