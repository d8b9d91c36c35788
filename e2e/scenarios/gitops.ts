import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkDiffs, recordStates } from '../../packaging/gitops.ts';
import { healthCheck, judge, mutants } from '../../packaging/health-checks.ts';
import { buildKubectl, buildProgram } from '../harness/build.ts';
import { paths } from '../harness/paths.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { found, none } from '../harness/wait-for.ts';

export const gitops: Scenario = {
  name: 'gitops',
  about: 'kubectl diff of chart and examples is empty, and Argo CD and Flux rate each recorded state as documented',
  ownControlPlane: true,
  destructive: 'it creates the default InjectorConfig and crashing pods',
  run: async (context) => {
    const health = await buildProgram('health', (line) => context.say(line));
    await buildKubectl((line) => context.say(line));
    await checkDiffs(context, 'client-side', []);
    await checkDiffs(context, 'server-side', ['--server-side']);
    const recorded = await recordStates(context, join(import.meta.dirname, 'gitops', 'states.yaml'));
    const page = readFileSync(join(paths.examples, '..', 'docs', 'gitops.md'), 'utf8');
    const row = /^\| (InjectorConfig|RevisionTag) \| (.*?) \| (\w+)[^|]* \| (\w+)[^|]* \|/gm;
    const table = [...page.matchAll(row)].map(([, kind, state, argo, flux]) => `${kind}: ${state}: ${argo}, ${flux}`);
    const verdicts = new Set<string>();
    let noticed = 0;
    for (const kind of ['InjectorConfig', 'RevisionTag'] as const) {
      const some = recorded.filter(({ object }) => object.kind === kind);
      const objects = some.map(({ object }) => object);
      const check = healthCheck(kind);
      const changed = mutants(check);
      const [said = [], ...others] = judge(health, [check, ...changed], objects);
      for (const [index, verdict] of said.entries()) verdicts.add(`${kind}: ${some[index]!.state}: ${verdict}`);
      const alike = changed.filter((_, index) => others[index]?.join() === said.join());
      noticed += changed.length - alike.length;
      const words = alike.map(({ lua, flux }) => (lua === check.lua ? JSON.stringify(flux) : lua));
      await context.checkNow(`for ${kind}, the removal of any word from the health check changes a health status`, () =>
        none(words),
      );
    }
    await context.checkNow('the health statuses of all recorded states equal the table in docs/gitops.md', () =>
      found([...verdicts].sort().join('\n'), table.sort().join('\n')),
    );
    return `${recorded.length} states recorded, ${table.length} rows in the table, ${noticed} mutants of the health checks detected`;
  },
};
