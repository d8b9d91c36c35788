import assert from 'node:assert/strict';
import { runCommand, sees } from '../testdata/recording-terminal.ts';
import { RevisionCluster } from '../testdata/revision-cluster.ts';

const deployment =
  'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: web, image: web}]}}}\n';
const config = 'templates: {sidecar: "spec: {containers: [{name: istio-proxy, image: {{ .Values.image }}}]}"}';

describe('kube-inject', () => {
  let cluster: RevisionCluster;
  beforeEach(async () => {
    cluster = new RevisionCluster();
    await cluster.start();
  });
  afterEach(() => cluster.stop());

  /** Runs the command on Deployment `web`, with these ConfigMaps in the cluster. */
  async function run(argv: readonly string[], configMaps: Record<string, Record<string, string>>) {
    for (const [id, data] of Object.entries(configMaps)) {
      const [namespace = '', name = ''] = id.split('/');
      cluster.memory.put('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data });
    }
    return runCommand(['kube-inject', '-f', '-', ...argv, '--kubeconfig', cluster.kubeconfig], deployment);
  }

  const maps = (suffix: string, namespace = 'istio-system') => ({
    [`${namespace}/istio-sidecar-injector${suffix}`]: { config, values: '{"image": "proxy:1"}' },
    [`${namespace}/istio${suffix}`]: { mesh: '' },
  });

  const renamed = { 'istio-system/a': { config, values: '{"image": "proxy:1"}' }, 'istio-system/b': { mesh: '' } };
  const good: [string, string[], Record<string, Record<string, string>>][] = [
    ["reads Istio's ConfigMaps", [], maps('')],
    ['reads the ConfigMaps of a revision', ['--revision', 'canary'], maps('-canary')],
    ['treats revision default as no revision', ['-r', 'default'], maps('')],
    ['reads the ConfigMaps in another namespace', ['-i', 'mesh'], maps('', 'mesh')],
    ['reads the ConfigMaps that flags name', ['--injectConfigMapName', 'a', '--meshConfigMapName', 'b'], renamed],
  ];
  for (const [title, argv, configMaps] of good) {
    it(title, async () => {
      assert.match((await run(argv, configMaps)).out, /"image": "proxy:1"/);
    });
  }

  const noConfig =
    /could not read valid configmap "istio-sidecar-injector" from namespace "istio-system": .* use --injectConfigFile/;
  const noValues = /missing configuration map key "values" in configmap "istio-sidecar-injector".*--valuesFile/;
  const noMesh = /could not read valid configmap "istio-x".*--meshConfigFile/;
  const revision = { 'istio-system/istio-sidecar-injector-x': { config, values: '{}' } };
  const bad: [string, string[], Record<string, Record<string, string>>, RegExp][] = [
    ['a missing ConfigMap', [], {}, noConfig],
    ['a missing key', [], { 'istio-system/istio-sidecar-injector': { config } }, noValues],
    ['a missing mesh config of a revision', ['-r', 'x'], revision, noMesh],
  ];
  for (const [title, argv, configMaps, message] of bad) {
    it(`reports ${title} and the flag that replaces it`, async () => {
      sees(await run(argv, configMaps), 2, { errors: message });
    });
  }
});
