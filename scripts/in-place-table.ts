/**
 * Counts for each set-up of Istio's templates and each kind of change how many pods of the recorded
 * reviews can be updated in place: `scripts/in-place-table.ts GOLDEN-FOLDER [--record]`.
 */
import { createHash } from 'node:crypto';
import type { ConfigurationFiles } from '../src/api/injector-config/configuration-files.ts';
import { inPlaceObstacles } from '../src/explain/in-place.ts';
import { podChanges } from '../src/explain/pod-changes.ts';
import {
  asAdmitted,
  type CreationContext,
  isGenerated,
  type NamedInjector,
  originOf,
  predictPod,
} from '../src/explain/predict-pod.ts';
import { loadInjector } from '../src/inject/injector.ts';
import { injectionRecords } from '../src/inject/pod/injection-records.ts';
import { Golden } from './conformance/golden.ts';
import { type RandomCase, randomSetting, type RandomSetup } from './conformance/random-cases.ts';

type Edit = (files: ConfigurationFiles) => ConfigurationFiles;
interface Values {
  global: { tag: string; proxy: { resources: { requests: { cpu: string } } } };
}

const ofValues =
  (edit: (values: Values) => void): Edit =>
  (files) => {
    const values = JSON.parse(files.values) as Values;
    edit(values);
    return { ...files, values: JSON.stringify(values) };
  };
/** The kinds of changes. */
const edits: readonly (readonly [string, Edit])[] = [
  [
    'image tag',
    ofValues((values) => {
      values.global.tag = '9.9.9';
    }),
  ],
  [
    'CPU request',
    ofValues((values) => {
      values.global.proxy.resources.requests.cpu = '123m';
    }),
  ],
  [
    'revision',
    (files) => {
      const settings = JSON.parse(files.settings) as Record<string, unknown>;
      return { ...files, settings: JSON.stringify({ ...settings, revision: 'other' }) };
    },
  ],
  [
    'mesh configuration',
    (files) => {
      const mesh = JSON.parse(files.mesh === '' ? '{}' : files.mesh) as { defaultConfig?: Record<string, unknown> };
      mesh.defaultConfig = { ...mesh.defaultConfig, drainDuration: '17s' };
      return { ...files, mesh: JSON.stringify(mesh) };
    },
  ],
];

const golden = new Golden(process.argv[2] ?? '../shared/golden');
const setups = golden.json('_random/setups.json') as RandomSetup[];
const cases = golden.lines('_random/cases.jsonl.gz') as RandomCase[];
const named = (files: ConfigurationFiles): NamedInjector => ({
  name: 'mesh',
  hash: createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 8),
  injector: loadInjector(files),
});
for (const setup of setups) {
  const files = ofValues((values) => {
    values.global.tag = '1.30.0';
  })(golden.files(randomSetting(setup), setup.revision));
  const before = named(files);
  for (const [title, edit] of edits) {
    let after: NamedInjector;
    try {
      after = named(edit(files));
    } catch (error) {
      console.log(setup.name, title, String(error).slice(0, 100));
      continue;
    }
    let [same, possible, restart] = [0, 0, 0];
    const reasons = new Map<string, number>();
    for (const { steps } of cases.filter((each) => each.setup === setup.name)) {
      const [step] = steps;
      if (step?.outcome !== 'patched') continue;
      const context: CreationContext = {
        request: { namespace: step.review.request.namespace, path: '/inject', nodes: [] },
        containerDefaults: { requests: {}, limits: {} },
      };
      const admitted = predictPod(step.review.request.object, before, context).pod;
      if (admitted === undefined) continue;
      const stored = asAdmitted(admitted);
      const { pod, finish } = originOf(stored, before, context);
      const next = predictPod(pod, after, context).pod;
      if (next === undefined) continue;
      const wanted = finish(next);
      const hidden = new Set(
        injectionRecords({ pod: stored, ...before }, { pod: wanted, ...after }).map(
          ([map, key]) => `metadata.${map}["${key}"]`,
        ),
      );
      const changes = podChanges(stored, wanted, (path) => hidden.has(path) || isGenerated(path));
      if (changes.length === 0) {
        same += 1;
        continue;
      }
      const obstacles = inPlaceObstacles(stored, wanted, changes, [], {
        kubeletVersion: 'v1.36.3',
        family: before.injector.family,
        isSelected: () => false,
      });
      if (obstacles.length === 0) possible += 1;
      else {
        restart += 1;
        const [o] = obstacles;
        const t = `${o!.field}: ${o!.reason}`;
        reasons.set(t, (reasons.get(t) ?? 0) + 1);
      }
    }
    const top = [...reasons]
      .sort((a, b) => b[1] - a[1])
      .slice(0, 3)
      .map(([t, n]) => `${n}x ${t}`)
      .join(' | ');
    console.log(
      `${setup.name.padEnd(22)} ${title.padEnd(20)} same ${same} in place ${possible} restart ${restart} ${top}`,
    );
  }
}
