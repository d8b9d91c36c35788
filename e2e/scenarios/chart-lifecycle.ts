import { mkdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { load } from 'js-yaml';
import { checkValueSets } from '../../packaging/chart-values.ts';
import { checkAutoscaler } from '../../packaging/chart-autoscaler.ts';
import { startRegistry } from '../../packaging/chart-registry.ts';
import { containersOf } from '../harness/admissions.ts';
import { buildKubectl, findHelm } from '../harness/build.ts';
import { applyUntilReady, smallConfig } from '../harness/injector-configs.ts';
import { installChart } from '../harness/installation.ts';
import { paths, repository } from '../harness/paths.ts';
import { Replicas } from '../harness/replicas/replicas.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { runInShell, type Said } from '../harness/shell.ts';
import { found, none } from '../harness/wait-for.ts';

const name = 'chart-lifecycle';
const system = `${name}-system`;
const folderOfOurs = join(import.meta.dirname, name);
const injector = `node "${paths.injector}"`;
const remaining = `bash "${folderOfOurs}/remaining.sh"`;
const definitions = ['injectorconfigs', 'revisiontags'].map(
  (each) => `customresourcedefinition.apiextensions.k8s.io/${each}.sidecar-injector.io\n`,
);

export const chartLifecycle: Scenario = {
  name,
  about:
    'the chart works with different values, Pod Security, install.yaml and autoscaling; with helm and a registry, it upgrades from the previous release, rolls back, uninstalls and installs',
  destructive: 'it installs and uninstalls the operator, including its CRDs',
  ownControlPlane: true,
  run: async (context) => {
    const { client, cluster } = context;
    const folder = join(cluster.run.path, name);
    mkdirSync(folder);
    for (const build of [buildKubectl, findHelm]) await build((line) => context.say(line));
    const PATH = [paths.binaries, process.env['PATH']].join(delimiter);
    const run = (line: string): Promise<Said> =>
      runInShell(line, { PATH, HOME: folder, KUBECONFIG: cluster.kubeconfig }, { folder });
    const shell = async (line: string): Promise<string> => {
      const { code, text } = await run(line);
      if (code !== 0) throw new Error(`${line}: ${text}`);
      return text;
    };
    const namespace = await context.namespace('pods', { 'istio.io/rev': 'used' });
    const injects = (when: string) =>
      context.check(`${when}, a pod is injected`, async () => (await containersOf(client, namespace)).length === 2);
    await checkWrongValues(context, run);
    await checkValueSets(context);

    const apply = () => shell(`kubectl apply --server-side -f "${repository}/charts/install.yaml"`);
    const generations = () => shell(`kubectl get -f "${repository}/charts/install.yaml" -o yaml | grep generation:`);
    const plain = await installChart(cluster, 'sidecar-injector-system', {}, apply);
    const first = await generations();
    await apply();
    await context.checkNow('applying install.yaml a second time changes nothing', async () =>
      found(await generations(), first),
    );
    const few = { webhooks: 1, controllers: 1, seed: context.seed, flags: ['--drain-seconds=0'] };
    const replicas = await Replicas.start(cluster, plain, few);
    await applyUntilReady(client, smallConfig('used'));
    await injects('with install.yaml');
    await replicas.end();
    await shell(`${injector} uninstall --purge --yes`);
    await context.check('uninstall --purge leaves no objects', async () => found((await run(remaining)).text, ''));

    const registry = `oci://${await startRegistry(context, folder)}/charts`;
    const chart = `${registry}/injector-operator --plain-http`;
    await shell(`helm package "${paths.chart}" -d packed && helm push packed/*.tgz ${registry} --plain-http`);
    const pulled = await run(`mkdir pulled && helm pull ${chart} -d pulled && cmp packed/*.tgz pulled/*.tgz`);
    await context.checkNow('the registry returns the same chart that was pushed', () => pulled.code === 0);
    const previous = await runInShell(`. "${folderOfOurs}/previous.sh"`, { ...process.env, FOLDER: folder });
    if (previous.code !== 0) throw new Error(previous.text);

    const helm = (words: string) => `helm ${words} -n ${system} --wait --set mode=all`;
    // Do not use context.install(), because helm adopts the rights of a running operator.
    const installation = await installChart(cluster, system, { mode: 'all' }, async () => {
      await shell(`kubectl create ns ${system}`);
      await shell(
        `kubectl label ns ${system} e2e.sidecar-injector.io/scenario=true pod-security.kubernetes.io/enforce=restricted`,
      );
      await shell(helm('install injector-operator charts/injector-operator'));
    });
    const start = () => installation.startOperator({ flags: ['--drain-seconds=0'] });
    context.atEnd(() => Promise.all(installation.operators.map(({ process: each }) => each.kill())));
    let operator = await start();
    await applyUntilReady(client, smallConfig('used'));
    /** Checks the CRDs, and that pods are injected before and after a restart of the operator. */
    const checkWorks = async (step: string, version: 'old' | 'new'): Promise<void> => {
      const isOld = (await shell('kubectl get crd -o yaml')).includes('An old injector');
      await context.checkNow(`${step}, the cluster has the ${version} CRDs`, () => isOld === (version === 'old'));
      await injects(`${step} and before a restart of the operator`);
      await operator.process.stop(30_000);
      operator = await start();
      await injects(`${step} and after a restart of the operator`);
    };
    await checkWorks('with the previous release', 'old');
    const upgrade = helm(`upgrade injector-operator ${chart}`);
    const refused = await run(upgrade);
    await context.checkNow('without --take-ownership, helm refuses to adopt existing CRDs, and names them', () =>
      /CustomResourceDefinition "injectorconfigs[^]* invalid ownership metadata/.test(refused.text),
    );
    await shell(`${upgrade} --take-ownership`);
    await checkWorks('after the upgrade', 'new');
    await shell(`helm rollback injector-operator 1 -n ${system} --wait`);
    await checkWorks('after the rollback', 'new');
    await shell(upgrade);
    await checkWorks('after another upgrade without the flag', 'new');
    await checkAutoscaler(context, shell, upgrade, system);
    const records = `kubectl get secret -n ${system} -l owner=helm -o jsonpath='{.items[-1:].data.release}'`;
    const size = Number(await shell(`${records} | base64 -d | wc -c`));
    await context.checkNow("helm's release record is smaller than a quarter of a Secret's limit", () => size < 1 << 18);

    const said = await shell(`helm uninstall injector-operator -n ${system}`);
    await operator.process.stop(30_000);
    await context.checkNow('helm reports that it keeps the CRDs', () => /kept[^]*revisiontags/.test(said));
    await context.check('after helm uninstall, only the CRDs of the chart remain', async () =>
      found(await shell(`${remaining} -l helm.sh/chart`), definitions.join('')),
    );
    await shell(`${injector} uninstall --yes`);
    await context.check('after injector uninstall, only the objects of users remain', async () => {
      const own = ['apiservice.apiregistration.k8s.io/v1alpha1.sidecar-injector.io\n', ...definitions];
      return found(await shell(remaining), [...own, 'injectorconfig.sidecar-injector.io/used\n'].join(''));
    });
    const foreign = await run(helm(`install other ${chart} --dry-run=server`));
    await context.checkNow('helm refuses to install a release with another name over the remaining CRDs', () =>
      foreign.text.includes('invalid ownership metadata'),
    );
    await shell(helm(`install injector-operator ${chart}`));
    await start();
    await injects('after an installation from the registry on top of the remaining CRDs');
    return `helm's release record has ${size} bytes`;
  },
};

async function checkWrongValues(context: ScenarioContext, run: (line: string) => Promise<Said>): Promise<void> {
  const wrong = load(readFileSync(join(folderOfOurs, 'wrong-values.yaml'), 'utf8')) as Record<string, string>;
  for (const [set, named] of Object.entries(wrong)) {
    const programs = [`helm template x "${paths.chart}"`, `${injector} install -o yaml`];
    const said = await Promise.all(programs.map((program) => run(`${program} --set '${set}'`)));
    await context.checkNow(`helm and injector install refuse the value ${set} and name the field`, () =>
      none(said.filter(({ code, text }) => code === 0 || !text.includes(named)).map(({ text }) => text)),
    );
  }
}
