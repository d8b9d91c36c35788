import { admissionPod } from '../../inject/kubernetes/admission-pod.ts';
import type { JsonObject } from '../../inject/patch/json-value.ts';
import { unmetRequirements } from '../../selection/label-selector.ts';
import { changesToMeet, withChanges } from '../advice.ts';
import { conditionMistake } from '../cel-condition.ts';
import type { MutatingWebhook } from '../pod-webhook.ts';
import { chooseWebhook } from '../webhook-choice.ts';

/** A matchCondition that the API server cannot compile, or cannot evaluate for a typical pod. */
export interface ConditionProblem {
  readonly name: string;
  readonly message: string;
  /** Whether the API server refuses the webhook or pods. */
  readonly isFatal: boolean;
  /** An expression that is evaluated for all typical pods; absent if the author must write it. */
  readonly guarded?: string;
}

const labels = { app: 'web', 'pod-template-hash': '0' };
const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-0', uid: '0', controller: true };
const whole: JsonObject = { name: 'web', labels, annotations: { 'example.com/a': 'b' }, ownerReferences: [owner] };
const controller = {
  username: 'system:serviceaccount:kube-system:replicaset-controller',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
};
const administrator = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] };
/** The metadata of typical pods, with and without each field, those with most fields first. */
const shapes = Object.keys(whole)
  .reduce<string[][]>((subsets, field) => subsets.flatMap((each) => [each, [...each, field]]), [[]])
  .sort((one, other) => one.length - other.length);

/**
 * Compiles the matchConditions of a webhook, and evaluates them as the API server does, for typical
 * pods that its objectSelector selects. Says nothing about what is not evaluated here.
 */
export function conditionProblems(webhook: MutatingWebhook): ConditionProblem[] {
  const { matchConditions = [] } = webhook;
  return matchConditions.flatMap(({ name, expression }) => {
    const mistake = conditionMistake(expression);
    if (mistake !== undefined)
      return { name, isFatal: true, message: `the API server refuses ${expression}: ${mistake}` };
    const failure = failureOf(webhook, name);
    if (failure === undefined) return [];
    const guarded = [...guardsOf(expression), `(${expression})`].join(' && ');
    // In a negation or an alternative, a pod without the field may be wanted.
    const isSure = !/[!?]|\|\|/.test(expression) && failureOf(webhook, name, guarded) === undefined;
    const remedy = isSure ? `write ${guarded}` : 'test each optional field with has(), and each key with `in`';
    const isFatal = webhook.failurePolicy !== 'Ignore';
    return { name, isFatal, message: `${expression} fails for ${failure}; ${remedy}`, ...(isSure && { guarded }) };
  });
}

/** Returns the first typical pod for which a condition fails, and the effect. */
function failureOf(webhook: MutatingWebhook, name: string, expression?: string): string | undefined {
  const { matchConditions = [], objectSelector } = webhook;
  const edited = matchConditions.map((each) => (each.name === name && expression ? { name, expression } : each));
  for (const absent of shapes) {
    const fields = Object.entries({ ...whole, generateName: 'web-' }).filter(([field]) => !absent.includes(field));
    const pod = { metadata: Object.fromEntries(fields), spec: { containers: [{ name: 'app', image: 'app' }] } };
    const creator = absent.includes('ownerReferences') ? administrator : controller;
    const creation = { pod: admissionPod(pod, 'default'), namespace: { name: 'default', labels: {} }, creator };
    const unmet = unmetRequirements(objectSelector, absent.includes('labels') ? {} : labels);
    const selected = withChanges(creation, changesToMeet('Pod', unmet) ?? []);
    const asked = { ...webhook, namespaceSelector: {}, matchConditions: edited };
    const { reason, message, steps } = chooseWebhook(asked, selected, selected.pod);
    if (reason !== 'MatchConditionFailed' || !steps.some((step) => step.name === name && step.result === 'Error'))
      continue;
    const what = absent.length === 0 ? 'an ordinary pod' : `a pod without ${absent.join(', ')}`;
    return `${what}: ${message.slice(message.indexOf(' fails: ') + 8)}`;
  }
  return undefined;
}

/** Returns the tests of all fields and keys of `object` that an expression reads. */
function guardsOf(expression: string): string[] {
  const paths = expression.matchAll(/\bobject((?:\.\w+)+)(?!\w*\()(?:\[('[^']*'|"[^"]*")\])?/g);
  const guards = [...paths].flatMap(([, path = '', key]) => {
    const steps = path.slice(1).split('.');
    const prefixes = steps.map((_, index) => `object.${steps.slice(0, index + 1).join('.')}`).slice(1);
    return [...prefixes.map((each) => `has(${each})`), ...(key === undefined ? [] : [`${key} in object${path}`])];
  });
  return [...new Set(guards)];
}
