import { applyAll } from '../../harness/apply.ts';
import { clusterFlags, runInjector } from '../../harness/injector-command.ts';
import { applyUntilReady } from '../../harness/injector-configs.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { istioConfig, istioConfigMaps, istioTexts } from '../istio-templates/istio-texts.ts';

/** The part of the report of `injector torture -o json` that this scenario reads. */
interface Report {
  readonly configurationProblems: readonly string[];
  readonly results: readonly { case: string; result: string; injected: boolean; problems: readonly string[] }[];
}

const revision = 'torture';

/** The webhook configuration of this injector. */
export const ownWebhook = `sidecar-injector-${revision}`;

/** Installs this injector with Istio's templates. */
export async function installOurs(context: ScenarioContext): Promise<{ source: string }> {
  const { texts, source } = istioTexts();
  const namespace = await context.namespace('config');
  await context.startReplicas();
  await applyAll(context.client, istioConfigMaps(namespace, revision, texts));
  await applyUntilReady(context.client, istioConfig(namespace, revision));
  return { source };
}

export interface Judged {
  readonly judged: number;
  readonly passed: number;
  /** The failed pods with their problems. */
  readonly failed: string[];
  /** The names of the cases that got no container. */
  readonly bare: string[];
}

export const caseOf = (failure: string): string => failure.slice(0, failure.indexOf(': '));

/** Runs `injector torture` against an injector. */
export async function reportOn(context: ScenarioContext, webhook: string): Promise<Judged> {
  const { out, errors } = await runInjector([
    ...['torture', '--webhook', webhook, '-o', 'json'],
    ...clusterFlags(context.cluster),
  ]);
  if (out === '') throw new Error(errors);
  const { results, configurationProblems } = JSON.parse(out) as Report;
  const judged = results.filter(({ result }) => result !== 'NotApplicable');
  const failed = judged
    .filter(({ result }) => result === 'Failed')
    .map((each) => `${each.case}: ${each.problems.join(', ')}`);
  return {
    judged: judged.length,
    passed: judged.length - failed.length,
    failed: [...configurationProblems, ...failed],
    bare: judged.filter(({ injected }) => !injected).map((each) => each.case),
  };
}
