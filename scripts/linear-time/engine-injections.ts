import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { goldenFolder } from '../../bench/benchmarks.ts';
import type { ConfigurationFiles } from '../../src/api/injector-config/configuration-files.ts';
import { validatedAnnotations } from '../../src/inject/annotations/validate-annotations.ts';
import { inject } from '../../src/inject/inject.ts';
import { loadInjector, type Injector } from '../../src/inject/injector.ts';
import { logFiles, proxyFiles } from '../../src/inject/testdata/configurations.ts';
import { mainThreadLimits } from '../../src/server/worker/limits.ts';
import { hostileData } from '../hostile/hostile-texts.ts';
import { hostilePods } from './hostile-pods.ts';

const { longAnnotations } = hostileData;
/** The size of a pod in bytes, so that its review is below 128 KiB, the main thread's limit. */
const longest = 127_000;

/** One injection of a pod with one part as large as possible. */
export interface EngineInjection {
  readonly name: string;
  readonly run: () => unknown;
}

/** Returns injections. `full` adds all texts for all annotations, and preset Safe. */
export function* engineInjections(full: boolean): Generator<EngineInjection> {
  for (const [configuration, files] of configurations()) {
    for (const preset of full ? (['Istio', 'Safe'] as const) : (['Istio'] as const)) {
      const injector = loadInjector(withPreset(files, preset), { limits: mainThreadLimits });
      warmUp(injector);
      const annotations = full
        ? [...new Set([...longAnnotations, ...annotationsIn(files.config), ...validatedAnnotations])]
        : longAnnotations.slice(0, 2);
      for (const { name, pod } of hostilePods(annotations, full)) {
        const request = { pod: pod(longest), namespace: 'shop' };
        yield { name: `${configuration}, ${preset}: ${name}`, run: () => inject(injector, request) };
      }
    }
  }
}

/** Returns our configurations, and Istio's template if the golden data exist. */
function* configurations(): Generator<[string, ConfigurationFiles]> {
  yield ['a proxy', proxyFiles];
  yield ['a log collector', logFiles];
  const golden = goldenFolder();
  const folder = `${golden ?? ''}/_configs`;
  if (golden === undefined || !existsSync(folder)) return;
  const config = readdirSync(folder)
    .sort()
    .map((file) => readFileSync(`${folder}/${file}`, 'utf8'))
    .find((text) => text.includes('\n  sidecar: |'));
  const [values = ''] = readdirSync(`${golden}/_values`).sort();
  if (config === undefined) return;
  yield [
    'Istio’s sidecar',
    {
      config: config.replace(/^defaultTemplates:\n(?:- .*\n)+/m, 'defaultTemplates:\n- sidecar\n'),
      values: readFileSync(`${golden}/_values/${values}`, 'utf8'),
      mesh: '',
      settings: '',
    },
  ];
}

function withPreset(files: ConfigurationFiles, preset: 'Istio' | 'Safe'): ConfigurationFiles {
  const settings = JSON.parse(files.settings === '' ? '{}' : files.settings) as object;
  return { ...files, settings: JSON.stringify({ ...settings, annotationOverrides: { preset, allow: [] } }) };
}

function annotationsIn(config: string): string[] {
  return [...config.matchAll(/["`]([a-z0-9.]*io\/[A-Za-z-]+)["`]/g)].map(([, name = '']) => name);
}

/** Injects some pods, because the first injections in a process are slow. */
function warmUp(injector: Injector): void {
  for (let index = 0; index < 300; index += 1) {
    const pod = {
      metadata: { name: `web-${index}`, annotations: { 'proxy.istio.io/config': 'concurrency: 2' } },
      spec: { containers: [{ name: `web-${index}`, image: 'web:1', ports: [{ containerPort: 80 }] }] },
    };
    inject(injector, { pod, namespace: 'shop' });
  }
}
