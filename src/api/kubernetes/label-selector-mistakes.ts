import { labelValuePattern, qualifiedNamePattern } from './field-types.ts';
import type { LabelSelector, LabelSelectorRequirement } from './kubernetes.ts';
import type { Mistake } from '../mistake.ts';

/** Returns mistakes that the schema admits but apimachinery's ValidateLabelSelector refuses. */
export function labelSelectorMistakes(field: string, selector: LabelSelector | undefined): Mistake[] {
  const labels = Object.keys(selector?.matchLabels ?? {}).filter((key) => !qualifiedNamePattern.test(key));
  return [
    ...labels.map((key) =>
      mistake(
        `${field}.matchLabels`,
        `${JSON.stringify(key)} is not a label name such as example.com/team; correct it`,
      ),
    ),
    ...(selector?.matchExpressions ?? []).flatMap((requirement, index) =>
      requirementMistakes(`${field}.matchExpressions[${index}]`, requirement),
    ),
  ];
}

function requirementMistakes(field: string, { key, operator, values = [] }: LabelSelectorRequirement): Mistake[] {
  const mistakes: Mistake[] = [];
  if (!qualifiedNamePattern.test(key)) {
    mistakes.push(mistake(`${field}.key`, `${JSON.stringify(key)} is not a label name; correct it`));
  }
  const compares = operator === 'In' || operator === 'NotIn';
  if (compares !== values.length > 0) {
    const problem = `${operator} ${compares ? 'needs at least one value' : 'takes no values'}`;
    mistakes.push(mistake(`${field}.values`, `${problem}; correct the list`));
  }
  const wrong = values.filter((value) => value.length > 63 || !labelValuePattern.test(value));
  return mistakes.concat(
    wrong.map((value) => mistake(`${field}.values`, `${JSON.stringify(value)} is not a label value; correct it`)),
  );
}

function mistake(field: string, problem: string): Mistake {
  return { field, message: `${field}: ${problem}` };
}
