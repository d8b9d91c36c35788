/**
 * Counts for Istio's templates how many pods can be updated in place after a change of the image
 * tag, the CPU request, the revision and the mesh configuration: predicts all recorded reviews that
 * are injected. `scripts/in-place-table.ts GOLDEN-FOLDER` prints a row for each set-up and change.
 */
import type { ConfigurationFiles } from '../src/api/injector-config/configuration-files.ts';
import { named } from '../src/cli/diff/configurations.ts';
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
import { isJsonObject, type JsonObject } from '../src/inject/patch/json-value.ts';
import { Golden } from './conformance/golden.ts';
import { type RandomCase, randomSetting, type RandomSetup } from './conformance/random-cases.ts';

type Edit = (files: ConfigurationFiles) => ConfigurationFiles;

/** Returns an edit that sets a value at a path of a JSON file. */
function setting(file: keyof ConfigurationFiles, path: readonly string[], value: string): Edit {
  return (files) => {
    const whole = JSON.parse(files[file] === '' ? '{}' : files[file]) as JsonObject;
    let place = whole;
    for (const step of path.slice(0, -1)) {
      const next = isJsonObject(place[step]) ? place[step] : {};
      place[step] = next;
      place = next;
    }
    place[path.at(-1) ?? ''] = value;
    return { ...files, [file]: JSON.stringify(whole) };
  };
}

// The recorded set-ups use tag `latest`, which has another pull policy than a version.
const baseline = setting('values', ['global', 'tag'], '1.30.0');
const edits: readonly (readonly [title: string, edit: Edit])[] = [
  ['image tag', setting('values', ['global', 'tag'], '1.30.1')],
  ['CPU request', setting('values', ['global', 'proxy', 'resources', 'requests', 'cpu'], '123m')],
  ['revision', setting('settings', ['revision'], 'other')],
  ['mesh configuration', setting('mesh', ['defaultConfig', 'drainDuration'], '17s')],
];

/** Says what an update of one pod takes. */
function updateOf(pod: JsonObject, before: NamedInjector, after: NamedInjector, context: CreationContext): string {
  const admitted = predictPod(pod, before, context).pod;
  if (admitted === undefined) return 'not injected';
  const running = asAdmitted(admitted);
  const origin = originOf(running, before, context);
  const next = predictPod(origin.pod, after, context).pod;
  if (next === undefined) return 'not injected';
  const wanted = origin.finish(next);
  const changes = podChanges(running, wanted, isGenerated);
  const [obstacle] = inPlaceObstacles(running, wanted, changes, origin.changedByOthers, {
    kubeletVersion: 'v1.36.3',
    isScheduled: true,
    family: before.injector.family,
    isSelected: () => false,
  });
  return obstacle === undefined ? 'in place' : `${obstacle.field}: ${obstacle.reason}`;
}

const golden = new Golden(process.argv[2] ?? '../shared/golden');
const cases = golden.lines('_random/cases.jsonl.gz') as RandomCase[];
let wrong = 0;
for (const setup of golden.json('_random/setups.json') as RandomSetup[]) {
  const recorded = golden.files(randomSetting(setup), setup.revision);
  // One set-up has its mesh configuration as YAML.
  if (!recorded.mesh.trimStart().startsWith('{') && recorded.mesh !== '') continue;
  const files = baseline(recorded);
  const before = named('mesh', files);
  for (const [title, edit] of edits) {
    const after = named('mesh', edit(files));
    const counts = new Map<string, number>();
    for (const { steps } of cases.filter((each) => each.setup === setup.name)) {
      const [step] = steps;
      if (step?.outcome !== 'patched') continue;
      const { object, namespace } = step.review.request;
      const context = {
        request: { namespace, path: '/inject', nodes: [] },
        containerDefaults: { requests: {}, limits: {} },
      };
      const found = updateOf(object, before, after, context);
      counts.set(found, (counts.get(found) ?? 0) + 1);
    }
    const inPlace = counts.get('in place') ?? 0;
    const others = [...counts].filter(([found]) => found !== 'in place' && found !== 'not injected');
    const byRestart = others.reduce((sum, [, count]) => sum + count, 0);
    const [most] = others.sort(([, one], [, other]) => other - one);
    // Origins do not restore the order of an author's own proxy container.
    if (title === 'image tag') wrong += others.filter(([found]) => !/restartPolicy Never|order:/.test(found)).length;
    const why = most === undefined ? '' : `, ${byRestart} by a restart, most often because of ${most[0]}`;
    if (inPlace + byRestart > 0) console.log(`${setup.name}, ${title}: ${inPlace} in place${why}`);
  }
}
if (wrong > 0) throw new Error('another image tag alone needs a restart in a set-up');
