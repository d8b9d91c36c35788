import { commandLine, inSequence } from '../../api/command-line.ts';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { adviseOn, type Change } from '../../explain/advice.ts';
import { explainCreation, type ExplanationInputs } from '../../explain/explain-creation.ts';
import { conditionProblems, type ConditionProblem } from '../../explain/lint/lint-conditions.ts';
import { asShell, changesInWords, costOf } from './check-report.ts';
import type { Facts } from './facts.ts';
import { creationOf } from '../../explain/files/facts.ts';
import type { Recreation } from './recreation.ts';
import type { Subject } from './subject.ts';

/** A command, and what the user must know about it: empty, or a clause that begins with `; `. */
export interface Remedy {
  readonly command: string;
  readonly note: string;
}

/** Returns the command that makes changes; its text is empty if there are none. */
export function changesRemedy(changes: readonly Change[], subject: Subject): Remedy {
  const cost = costOf(changes, subject);
  return { command: inSequence(changesInWords(changes, subject).map(asShell)), note: cost && `; ${cost}` };
}

/**
 * Returns what gives the pods of a workload the configuration that they should have. A restart
 * would remove their sidecar, or leave the workload without pods, unless new pods are injected.
 * @param injectorConfig the InjectorConfig whose sidecar they should have
 * @param isReplaced whether another product injects new pods instead
 */
export function workloadRemedy(
  subject: Subject,
  { injectorConfig, isReplaced }: { readonly injectorConfig: string; readonly isReplaced: boolean },
  facts: Facts,
  surroundings: ExplanationInputs,
): Remedy {
  const { kind, name, namespace, recreation, stored } = subject;
  const { command: recreate = '', cost }: Partial<Recreation> = recreation ?? {};
  const creation = creationOf(subject, facts.namespaces);
  const finding = explainCreation(creation, surroundings);
  const isWanted = ({ injectedBy }: { readonly injectedBy: readonly string[] }): boolean =>
    injectedBy.some((entry) => entry.startsWith(`${injectorConfig}.`));
  if (isReplaced || isWanted(finding)) return { command: recreate, note: cost === undefined ? '' : `; ${cost}` };
  const own = finding.webhooks.filter(({ target }) => target?.injectorConfig === injectorConfig);
  const advices = adviseOn(creation, surroundings, { ...finding, webhooks: own }).filter(isWanted);
  // A label of the namespace would change the pods of others.
  const advice = advices.find(({ changes }) => changes.every((each) => each.of === 'Pod'));
  const check = commandLine`injector check ${kind.toLowerCase()}/${stored?.metadata.name ?? name} -n ${namespace}`;
  const { command, note } =
    advice === undefined ? { command: check, note: '' } : changesRemedy(advice.changes, subject);
  return { command, note: `; do not restart it: a new pod is ${finding.outcome}: ${finding.message}${note}` };
}

/** Finds the matchConditions in the webhooks of an InjectorConfig that fail for typical pods. */
export function failingConditions(
  { metadata: { name }, spec }: InjectorConfig,
  { webhooks }: ExplanationInputs,
): { readonly message: string; readonly command: string }[] {
  const conditions = spec.webhook.matchConditions;
  const live = webhooks.filter(({ target }) => target?.injectorConfig === name && conditions.length > 0);
  const problems = live.flatMap(({ webhook }) => conditionProblems(webhook)).reverse();
  const byName = new Map<string, ConditionProblem>(problems.map((each) => [each.name, each]));
  return [...byName.values()].map(({ name: condition, message, guarded }) => {
    const index = conditions.findIndex((each) => each.name === condition);
    const path = `/spec/webhook/matchConditions/${index}/expression`;
    const stored = conditions[index]?.expression;
    const isSame = live.some(({ webhook }) =>
      webhook.matchConditions?.some((each) => each.name === condition && each.expression === stored),
    );
    // Nothing newer is overwritten: neither a change that is not published yet, nor a later one.
    const test = { op: 'test', path, value: stored };
    const patch = JSON.stringify([test, { op: 'replace', path, value: guarded }]);
    const command =
      guarded === undefined || !isSame
        ? commandLine`kubectl edit injectorconfig ${name}`
        : commandLine`kubectl patch injectorconfig ${name} --type json -p ${patch}`;
    return { message: `matchCondition ${condition}: ${message}`, command };
  });
}
