import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { parseInjectorConfig } from '../api/injector-config/parse-injector-config.ts';
import { inject } from '../inject/inject.ts';
import { loadInjector } from '../inject/injector.ts';
import { typicalPods } from '../inject/rehearsal/typical-pods.ts';
import { configurationFiles } from '../manifests/configuration-files.ts';

describe('examples: sidecars', () => {
  // As the first process of a container, a shell or sleep ignores SIGTERM.
  for (const file of ['hello', 'kubesphere-logsidecar', 'revision-1-24', 'revision-1-25']) {
    it(`${file}.yaml adds a native sidecar where the nodes can, which handles SIGTERM`, () => {
      const config = parseInjectorConfig(parse(readFileSync(`examples/${file}.yaml`, 'utf8')));
      const job = typicalPods('example.com/inject').find(({ kind }) => kind === 'a pod of a Job')?.pod ?? {};
      for (const mode of ['Enabled', 'Disabled'] as const) {
        const injector = loadInjector(configurationFiles(config, {}, mode));
        const result = inject(injector, { pod: job, namespace: 'default', path: '/inject' });
        assert.ok(result.outcome === 'injected');
        const { containers, initContainers = [] } = result.pod.spec as Record<string, Record<string, unknown>[]>;
        const [sidecar = {}] = mode === 'Enabled' ? initContainers : (containers ?? []);
        assert.equal(containers?.length, mode === 'Enabled' ? 1 : 2);
        assert.equal(sidecar['restartPolicy'], mode === 'Enabled' ? 'Always' : undefined);
        const { command, args = [] } = sidecar as { command: string[]; args?: string[] };
        assert.match([...command, ...args].join(' '), /^sh -c trap 'exit 0' TERM; .* & wait/);
      }
    });
  }
});
