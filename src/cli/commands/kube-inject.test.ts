import assert from 'node:assert/strict';
import { Command } from 'commander';
import { ApiError } from '../../kube/api-error.ts';
import { recordingTerminal } from '../testdata/recording-terminal.ts';
import { kubeInjectCommand } from './kube-inject.ts';

const deployment =
  'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: web, image: web}]}}}\n';
const config = 'templates: {sidecar: "spec: {containers: [{name: istio-proxy, image: {{ .Values.image }}}]}"}';

/** Runs the command with Deployment `web` on standard input and these ConfigMaps in the cluster. */
async function run(argv: readonly string[], configMaps: Record<string, Record<string, string>>): Promise<string> {
  const { terminal, seen } = recordingTerminal(deployment);
  const get = (_: unknown, name: string, { namespace }: { namespace?: string | undefined } = {}) => {
    const data = configMaps[`${namespace ?? ''}/${name}`];
    if (data === undefined)
      return Promise.reject(new ApiError({ code: 404, reason: 'NotFound', message: `no ${name}` }));
    return Promise.resolve({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
  };
  const command = kubeInjectCommand(terminal, () => ({ get: get as never, close: () => undefined }));
  await new Command()
    .exitOverride()
    .addCommand(command)
    .parseAsync(['kube-inject', '-f', '-', ...argv], { from: 'user' });
  return seen().out;
}

describe('kube-inject', () => {
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
      assert.match(await run(argv, configMaps), /image: proxy:1/);
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
      await assert.rejects(run(argv, configMaps), { name: 'ConfigurationError', message });
    });
  }
});
