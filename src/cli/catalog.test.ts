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
});
