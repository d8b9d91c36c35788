import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { parseInjectorConfig } from '../api/injector-config/parse-injector-config.ts';
import { validateInjectorConfig } from '../api/injector-config/validate-injector-config.ts';
import { lintFiles } from '../explain/lint/lint-files.ts';
import { inject } from '../inject/inject.ts';
import { loadInjector } from '../inject/injector.ts';
import { typicalPods } from '../inject/rehearsal/typical-pods.ts';
import { refusalOf } from '../inject/validity/find-invalid-fields.ts';
import { configurationFiles } from '../manifests/configuration-files.ts';

interface InjectedSpec {
  readonly initContainers: readonly InjectedContainer[];
  readonly containers: readonly InjectedContainer[];
  readonly volumes: readonly { readonly name: string; readonly emptyDir?: object }[];
}
interface InjectedContainer {
  readonly name: string;
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly volumeMounts?: readonly { readonly name: string }[];
}

describe('catalog', () => {
  const files = readdirSync('catalog').filter((name) => name.endsWith('.yaml'));
  it('is listed in its README', () => {
    const readme = readFileSync('catalog/README.md', 'utf8');
    assert.deepEqual([...readme.matchAll(/^\| \[(\S+)\]/gm)].map(([, name]) => name).sort(), files.sort());
  });

  for (const name of files) {
    const text = readFileSync(`catalog/${name}`, 'utf8');
    it(`${name} begins with a description, and lint finds nothing`, () => {
      assert.match(text, /^# [A-Z]/);
      const { findings } = lintFiles([{ name, text }]);
      assert.deepEqual(
        findings.map(({ rule, message }) => `${rule}: ${message}`),
        [],
      );
    });

    it(`${name} adds one sidecar to typical pods, native or not, and they stay valid`, () => {
      const config = parseInjectorConfig(parse(text), { unknownFields: 'refuse' });
      assert.deepEqual(validateInjectorConfig(config), []);
      for (const mode of ['Enabled', 'Disabled'] as const) {
        const injector = loadInjector(configurationFiles(config, {}, mode));
        for (const { kind, pod } of typicalPods('example.com/inject')) {
          const labels = config.spec.webhook.objectSelector?.matchLabels ?? {};
          const labelled = { ...pod, metadata: { ...(pod.metadata as object), labels } };
          const result = inject(injector, { pod: labelled, namespace: 'default', path: '/inject' });
          assert.ok(result.outcome === 'injected', `${kind}: ${JSON.stringify(result)}`);
          assert.equal(refusalOf(labelled, result.pod), undefined);
          const { containers, initContainers } = result.pod.spec as Record<string, { name: string }[] | undefined>;
          const list = mode === 'Enabled' ? initContainers : containers;
          assert.ok(
            list?.some((container) => container.name === config.metadata.name),
            kind,
          );
        }
      }
    });
  }

  it('vault-agent.yaml gets the secret before the application starts, which reads it from memory', () => {
    const config = parseInjectorConfig(parse(readFileSync('catalog/vault-agent.yaml', 'utf8')));
    for (const [mode, order] of [
      ['Enabled', ['vault-agent-init', 'vault-agent', 'migrate', 'app']],
      ['Disabled', ['vault-agent-init', 'migrate', 'vault-agent', 'app']],
    ] as const) {
      const metadata = { name: 'web', annotations: { 'catalog/vault-role': 'say "hello"' } };
      const spec = { initContainers: [{ name: 'migrate', image: 'a' }], containers: [{ name: 'app', image: 'a' }] };
      const injector = loadInjector(configurationFiles(config, {}, mode));
      const result = inject(injector, { pod: { metadata, spec }, namespace: 'default', path: '/inject' });
      assert.ok(result.outcome === 'injected');
      const { initContainers, containers, volumes } = result.pod.spec as InjectedSpec;
      const all = [...initContainers, ...containers];
      assert.deepEqual(
        all.map(({ name }) => name),
        order,
      );
      const readers = all.filter(({ volumeMounts }) => volumeMounts?.some(({ name }) => name === 'vault-secrets'));
      assert.deepEqual(readers.map(({ name }) => name).sort(), ['app', 'vault-agent', 'vault-agent-init']);
      assert.deepEqual(volumes.find(({ name }) => name === 'vault-secrets')?.emptyDir, { medium: 'Memory' });
      const agent = all.find(({ name }) => name === 'vault-agent')?.env?.find(({ name }) => name === 'AGENT');
      assert.match(agent?.value ?? '', /role += "say \\"hello\\""\n/);
    }
  });
});
