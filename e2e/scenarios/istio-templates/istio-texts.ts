import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { istioKeys } from '../../../src/api/injector-config/webhook-keys.ts';
import { loadInjector, type Injector } from '../../../src/inject/injector.ts';
import { objectOf, readObjects } from '../../harness/apply.ts';
import { injectorConfig, type InjectorConfigObject } from '../../harness/injector-configs.ts';
import { paths, repository } from '../../harness/paths.ts';

export interface IstioTexts {
  config: string;
  values: string;
  mesh: string;
}

/** Returns Istio's recorded texts if they exist beside the repository, or else an example. */
export function istioTexts(): { texts: IstioTexts; source: string } {
  const golden = join(repository, '..', 'shared', 'golden');
  const read = (file: string): string => readFileSync(join(golden, file), 'utf8');
  if (existsSync(golden)) {
    const texts = {
      config: read('_configs/d521712c8b2d.yaml'),
      values: read('_values/531e24e5ae62.json'),
      mesh: read('_meshraw/d3ed38e8ee10.yaml'),
    };
    return { texts, source: "Istio's own templates" };
  }
  const data: Partial<IstioTexts> = {};
  for (const object of readObjects(join(paths.examples, 'istio-config-maps.yaml'))) {
    if (object.kind === 'ConfigMap') Object.assign(data, object.data);
  }
  const { config = '', values = '', mesh = '' } = data;
  return { texts: { config, values, mesh }, source: "the example's templates" };
}

/** Returns the ConfigMaps of a revision, with the names that Istio uses. */
export function istioConfigMaps(namespace: string, revision: string, texts: IstioTexts): KubernetesObject[] {
  const { config, values, mesh } = texts;
  const configMap = (name: string, data: Record<string, string>): KubernetesObject => ({
    ...objectOf('v1', 'ConfigMap', `${name}-${revision}`, namespace),
    data,
  });
  return [configMap('istio-sidecar-injector', { config, values }), configMap('istio', { mesh })];
}

/** Returns an InjectorConfig that refers to the ConfigMaps of a revision, with the same name. */
export function istioConfig(namespace: string, revision: string): InjectorConfigObject {
  const configFrom = { namespace, name: `istio-sidecar-injector-${revision}`, key: 'config' };
  return injectorConfig(revision, {
    injection: { configFrom, meshConfigFrom: { namespace, name: `istio-${revision}`, key: 'mesh' } },
  });
}

/** Builds an engine from the texts, independent of the ConfigMaps that the operator wrote. */
export function injectorOf(revision: string, texts: IstioTexts): Injector {
  const engine = { delimiters: ['{{', '}}'], nativeSidecars: 'Auto', keys: istioKeys, pathEnvironment: {} };
  const settings = { revision, ...engine };
  return loadInjector({ ...texts, settings: JSON.stringify(settings) });
}

/** Returns the texts with another tag for the proxy's image. */
export function withTag(texts: IstioTexts, tag: string): IstioTexts {
  const values = JSON.parse(texts.values) as { global: Record<string, unknown> };
  return { ...texts, values: JSON.stringify({ ...values, global: { ...values.global, tag } }) };
}
