import type { JsonObject } from '../../src/inject/patch/json-value.ts';
import type { ConformanceCase } from './conformance-case.ts';
import type { Golden, Setting } from './golden.ts';
import { compareAnswer } from './webhook-cases.ts';

export interface RandomSetup {
  readonly name: string;
  readonly revision: string;
  readonly nativeSidecars: 'enabled' | 'disabled';
}

export interface RandomCase {
  readonly id: string;
  readonly setup: string;
  readonly path: string;
  readonly steps: readonly {
    readonly review: { readonly request: { readonly object: JsonObject; readonly namespace: string } };
    readonly outcome: 'patched' | 'skipped' | 'denied';
    readonly pod?: JsonObject;
    readonly message?: string;
  }[];
}

/** Returns random reviews with Istio's answers. A second step injects the first result again. */
export function* randomCases(golden: Golden): Generator<ConformanceCase> {
  const setups = new Map((golden.json('_random/setups.json') as RandomSetup[]).map((setup) => [setup.name, setup]));
  for (const { id, setup: name, path, steps } of golden.lines('_random/cases.jsonl.gz') as RandomCase[]) {
    const setup = setups.get(name);
    if (setup === undefined) throw new Error(`_random: the set-up of ${id} is missing`);
    const setting = randomSetting(setup);
    for (const [step, { review, outcome, pod, message }] of steps.entries()) {
      yield {
        id: `_random/${id}/${step + 1}`,
        group: `random/${name}`,
        run: () => {
          const { object, namespace } = review.request;
          const answer = {
            allowed: outcome !== 'denied',
            ...(message !== undefined && { message }),
            ...(pod && { podOut: pod }),
            once: true as const,
          };
          return compareAnswer(
            golden.injector(setting, setup.revision, 'Webhook'),
            { pod: object, namespace, path, nodes: [] },
            answer,
            setting,
          );
        },
      };
    }
  }
}

/** Returns the configuration of a set-up. */
export function randomSetting({ name, nativeSidecars }: RandomSetup): Setting {
  const folder = `_random/setups/${name}`;
  return {
    config: `${folder}/config`,
    values: `${folder}/values`,
    mesh: `${folder}/mesh`,
    features: { COMPLIANCE_POLICY: '', ENABLE_NATIVE_SIDECARS: String(nativeSidecars === 'enabled'), PLATFORM: '' },
    cluster: { namespaces: null, nodes: null },
  };
}
