import { Random } from '../../scripts/template-recorder/random.ts';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import type { JsonObject } from '../../src/inject/patch/json-value.ts';
import { findInvalidFields } from '../../src/inject/validity/find-invalid-fields.ts';
import type { InvalidField } from '../../src/inject/validity/place.ts';
import { ApiError, type StatusCause } from '../../src/kube/api-error.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { none } from '../harness/wait-for.ts';
import { mistakes } from './pod-validity/mistakes.ts';
import { podMaker } from './pod-validity/random-pods.ts';

/** The share of pods that get mistakes, and the number of dry runs at the same time. */
const [invalidShare, atOnce] = [0.3, 16];

export const podValidity: Scenario = {
  name: 'pod-validity',
  about: 'the offline validator refuses the random injected pods that the API server refuses, and no others',
  full: '20,000 random pods, 3 minutes',
  run: async (context) => {
    const namespace = await context.namespace('pods', { 'pod-security.kubernetes.io/enforce': 'privileged' });
    const [count, least] = context.size === 'full' ? [20_000, 200] : [500, 3];
    const tally = newTally();
    const next = randomPods(namespace, new Random(context.seed), count);
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (let each = next(); each !== undefined; each = next()) await judge(context, each, tally);
      }),
    );
    const { differences, planted, refused, missed, falseAlarms, harmless, unjudged } = tally;
    for (const [what, times] of [...differences].sort((one, other) => other[1] - one[1]).slice(0, 40))
      context.say(`${times} times: ${what}`);
    await context.checkNow('every pod gets a verdict', () => none(unjudged.slice(0, 5)));
    await context.checkNow('every mistake makes the API server refuse the pod', () => none([...harmless]));
    await context.checkNow('no finding in a pod that the API server accepts', () => none(falseAlarms.slice(0, 5)));
    await context.checkNow('at most 1 % of the refused pods have no finding', () => missed.length <= refused / 100);
    await context.checkNow('no mistake against a named rule is missed', () =>
      none([...differences.keys()].filter((what) => what.startsWith('missed: '))),
    );
    await context.checkNow(`each of ${planted.size} rules was broken at least ${least} times`, () =>
      none(Object.keys(mistakes).filter((rule) => (planted.get(rule) ?? 0) < least)),
    );
    const rules = planted.size;
    const fewest = Math.min(...planted.values());
    context.measured({ pods: count, refused, rules, fewestPerRule: fewest, falseAlarms: 0, missed: missed.length });
    return `${count} pods, of which the API server refuses ${refused}: no false alarm, ${missed.length} missed, ${rules} rules broken at least ${fewest} times each`;
  },
};

function newTally() {
  return {
    /** How often each difference occurs, by kind of field. */
    differences: new Map<string, number>(),
    /** How often each rule was broken. */
    planted: new Map<string, number>(),
    refused: 0,
    missed: [] as string[],
    falseAlarms: [] as string[],
    /** Mistakes that the API server accepts; a mistake of the scenario. */
    harmless: new Set<string>(),
    unjudged: [] as string[],
  };
}

interface RandomPod {
  readonly pod: JsonObject;
  /** The rules that were broken. */
  readonly broken: readonly string[];
}

/** Returns a function that makes the next pod. The rules take turns. */
function randomPods(namespace: string, random: Random, count: number): () => RandomPod | undefined {
  const make = podMaker(namespace, random);
  const names = Object.keys(mistakes);
  let [made, turn] = [0, 0];
  return () => {
    if (made === count) return undefined;
    made += 1;
    const number = random.chance(invalidShare) ? 1 + random.below(3) : 0;
    const broken = Array.from({ length: number }, () => names[turn++ % names.length] ?? '');
    return { pod: make(broken.map((rule) => random.pick(mistakes[rule] ?? []))), broken };
  };
}

/** Compares the verdicts on a pod. */
async function judge({ client }: ScenarioContext, { pod, broken }: RandomPod, tally: ReturnType<typeof newTally>) {
  const causes = await causesOf(() => client.create(pod as unknown as KubernetesObject, { dryRun: true }));
  if (typeof causes === 'string') {
    tally.unjudged.push(`${causes} (${broken.join(', ')})`);
    return;
  }
  const found = findInvalidFields(pod);
  const note = (what: string): void => void tally.differences.set(what, (tally.differences.get(what) ?? 0) + 1);
  for (const rule of broken) tally.planted.set(rule, (tally.planted.get(rule) ?? 0) + 1);
  if (causes.length === 0) {
    for (const { message } of found) tally.falseAlarms.push(message);
    if (broken.length > 0) tally.harmless.add(broken.join(', '));
    return;
  }
  tally.refused += 1;
  if (found.length === 0) tally.missed.push(causes.map(({ field = '' }) => field).join());
  for (const cause of causes)
    if (!found.some((each) => isSame(each, cause)))
      note(`missed: ${kindOf(cause.field)}: ${cause.message ?? ''} (${broken.join(', ')})`);
  for (const each of found)
    if (!causes.some((cause) => isSame(each, cause))) note(`only here: ${kindOf(each.path)}: ${each.message}`);
}

/** Returns the API server's causes, none if it accepts the pod, or another answer as a text. */
async function causesOf(create: () => Promise<unknown>): Promise<readonly StatusCause[] | string> {
  try {
    await create();
    return [];
  } catch (error) {
    if (error instanceof ApiError && error.code === 422) return error.causes;
    return error instanceof Error ? error.message : String(error);
  }
}

/** Returns a path without indexes, keys and spaces. */
function kindOf(path = ''): string {
  return path.replace(/\[[^\]]*\]/g, '');
}

/** The fields whose path the API server writes in another way. */
const otherPaths: readonly [RegExp, string][] = [
  [/^spec\.resources\.containers\.limits$/, 'spec.containers.resources.limits'],
  [/\.projected\.path$/, '.projected.sources.serviceAccountToken.path'],
  // A wrong limit is also a wrong request, by default.
  [/\.resources\.requests$/, '.resources'],
];

/** Reports whether a finding is a cause: in the same field, or in a part of it. */
function isSame({ path }: InvalidField, { field = '' }: StatusCause): boolean {
  const theirs = otherPaths.reduce((text, [from, to]) => text.replace(from, to), kindOf(field));
  const ours = kindOf(path).replace('.downwardAPI.items', '.downwardAPI');
  return path === field || ours === theirs || ours.startsWith(`${theirs}.`) || theirs.startsWith(`${ours}.`);
}
