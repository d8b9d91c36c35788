import assert from 'node:assert/strict';
import { inject } from './inject.ts';
import { loadInjector, type Injector } from './injector.ts';
import { deepFreeze, readRows, sortedWords } from './merge/testdata/read-rows.ts';
import { applyJsonPatch } from './patch/testdata/apply-json-patch.ts';
import type { JsonObject } from './patch/json-value.ts';
import { type IstiodSetup, settingsOfSetup } from './testdata/istiod-setup.ts';

/** A pod and Istio's recorded answer. */
interface Row {
  readonly setup: string;
  readonly group: string;
  readonly path: string;
  readonly namespace: string;
  readonly pod: JsonObject;
  readonly outcome: 'patched' | 'skipped' | 'denied';
  readonly result?: JsonObject;
  readonly message?: string;
}

const files = ['istio-results', 'istiod-results'].map((name) => new URL(`testdata/${name}.jsonl.gz`, import.meta.url));
const lines = files.flatMap((file) => readRows<Row | { setup: IstiodSetup }>(file));
const rows = lines.filter((line): line is Row => typeof line.setup === 'string');
const setups = lines.flatMap(({ setup }) => (typeof setup === 'string' ? [] : [setup]));

function load(setup: IstiodSetup): Injector {
  const { config, values, mesh } = setup;
  return loadInjector({ config, values, mesh, settings: JSON.stringify(settingsOfSetup(setup)) });
}

describe(`inject returns the results of Istio's injector (${rows.length} recorded pods)`, () => {
  for (const setup of setups) {
    let injector: Injector | undefined;
    const setupRows = rows.filter((row) => row.setup === setup.name);
    for (const group of new Set(setupRows.map((row) => row.group))) {
      it(`for group ${group} in configuration ${setup.name}`, () => {
        injector ??= load(setup);
        for (const { pod, namespace, path, outcome, result, message } of setupRows.filter(
          (row) => row.group === group,
        )) {
          const shown = `${path} ${namespace} ${JSON.stringify(pod)}`;
          const annotations = setup.namespaces?.[namespace];
          const namespaceMetadata = annotations && { namespaceMetadata: { annotations } };
          const answer = inject(injector, { pod: deepFreeze(pod), namespace, path, nodes: [], ...namespaceMetadata });
          assert.equal({ injected: 'patched', skipped: 'skipped', failed: 'denied' }[answer.outcome], outcome, shown);
          if (answer.outcome === 'failed') assert.equal(sortedWords(answer.message), sortedWords(message), shown);
          if (answer.outcome !== 'injected') continue;
          assert.deepEqual(answer.pod, result, shown);
          assert.deepEqual(applyJsonPatch(pod, answer.patch), result, shown);
        }
      });
    }
  }
});
