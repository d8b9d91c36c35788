import { build } from 'esbuild';
import type { Page } from 'puppeteer-core';
import { type IstiodSetup, settingsOfSetup } from '../../src/inject/testdata/istiod-setup.ts';
import { readRows } from '../../src/inject/merge/testdata/read-rows.ts';
import type { JsonObject } from '../../src/inject/patch/json-value.ts';
import { readGoResults } from '../../src/template/testdata/go-results.ts';
import { browserOptions } from '../bundle/web.ts';
import { Golden } from '../conformance/golden.ts';
import { type RandomCase, type RandomSetup, randomSetting } from '../conformance/random-cases.ts';
import { type PodRows, podAnswers, templateAnswers } from './browser-rows.ts';

interface RecordedPod {
  readonly setup: string;
  readonly path: string;
  readonly namespace: string;
  readonly pod: JsonObject;
}

/** Newer versions of V8 add the place to errors of JSON.parse. */
const place = / \(line \d+ column \d+\)$/;

/** The number of templates in one message to the browser. */
const templatesAtOnce = 500;

/**
 * Runs recorded pods and templates in the browser and here, and compares the bytes of the results.
 * @param golden the folder of Istio's recorded behaviour, of which the first 1,000 pods are added
 */
export async function compareRows(page: Page, golden: string | undefined) {
  const entryPoints = ['scripts/playground/browser-rows.ts'];
  const { outputFiles } = await build({ ...browserOptions, entryPoints, globalName: 'rows', write: false });
  await page.evaluate(`${outputFiles[0]?.text ?? ''}; globalThis.rows = rows;`);
  const different: string[] = [];
  const compare = async (name: string, here: readonly string[], call: string): Promise<number> => {
    const there = (await page.evaluate(call)) as string[];
    const index = here.findIndex((answer, at) => answer !== there[at]?.replace(place, ''));
    if (index >= 0) different.push(`${name}, row ${index}: ${here[index] ?? ''} in Node, ${there[index] ?? ''} there`);
    return here.length;
  };
  let [pods, templates] = [0, 0];
  for (const [name, rows] of [...recordedPods(), ...(golden === undefined ? [] : goldenPods(new Golden(golden)))])
    pods += await compare(name, podAnswers(rows), `rows.podAnswers(${JSON.stringify(rows)})`);
  const { documents, rows } = readGoResults();
  // The browser gets the data as JSON, which has no typed values.
  const plain = rows.filter(({ document }) => !document.startsWith('garage'));
  for (let from = 0; from < plain.length; from += templatesAtOnce) {
    const some = plain
      .slice(from, from + templatesAtOnce)
      .map(({ document, ...row }) => ({ ...row, data: documents[document] }));
    const call = `rows.templateAnswers(${JSON.stringify(some)})`;
    templates += await compare(`templates from ${from}`, templateAnswers(some), call);
  }
  return { pods, templates, different };
}

/** Returns the pods that the unit tests compare with Istio's recorded answers. */
function recordedPods(): [string, PodRows][] {
  const lines = ['istio-results', 'istiod-results'].flatMap((name) =>
    readRows<RecordedPod | { setup: IstiodSetup }>(
      new URL(`../../src/inject/testdata/${name}.jsonl.gz`, import.meta.url),
    ),
  );
  const pods = lines.filter((line): line is RecordedPod => typeof line.setup === 'string');
  const setups = lines.flatMap(({ setup }) => (typeof setup === 'string' ? [] : [setup]));
  return setups.map((setup) => {
    const { config, values, mesh } = setup;
    const files = { config, values, mesh, settings: JSON.stringify(settingsOfSetup(setup)) };
    const own = pods.filter((pod) => pod.setup === setup.name);
    const requests = own.map(({ pod, namespace, path }) => ({ pod, namespace, path, nodes: [] }));
    return [`configuration ${setup.name}`, { files, requests }];
  });
}

function goldenPods(golden: Golden): [string, PodRows][] {
  const setups = golden.json('_random/setups.json') as RandomSetup[];
  const cases = (golden.lines('_random/cases.jsonl.gz') as RandomCase[]).slice(0, 1000);
  return setups.map((setup) => {
    const own = cases.filter((each) => each.setup === setup.name);
    const requests = own.map(({ path, steps }) => {
      const { object = {}, namespace = '' } = steps[0]?.review.request ?? {};
      return { pod: object, namespace, path, nodes: [] };
    });
    return [`set-up ${setup.name}`, { files: golden.files(randomSetting(setup), setup.revision), requests }];
  });
}
