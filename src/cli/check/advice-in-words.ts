import type { Advice } from '../../inject/explain/advice.ts';
import type { Change } from '../../inject/explain/changes.ts';
import type { Subject } from './subject.ts';

/** Advice as a sentence, with the commands that do it. */
export function adviceInWords({ changes, outcome, injectedBy }: Advice, subject: Subject): string {
  const then = outcome === 'Injected' ? `injected by ${injectedBy.join(', ')}` : 'left without a sidecar';
  return `to have it ${then}: ${changes.map((change) => changeInWords(change, subject)).join(', and ')}`;
}

function changeInWords(change: Change, subject: Subject): string {
  if (change.field === 'hostNetwork') return `do without the host network (spec.hostNetwork of the pod)`;
  const { key, value } = change;
  const what = value === null ? `${key}-` : `${key}=${value}`;
  if (change.of === 'Namespace')
    return `kubectl label namespace ${subject.namespace} ${what}${value === null ? '' : ' --overwrite'}`;
  const { template } = subject;
  if (template !== undefined && !isImmutable(template.kind)) {
    const patch = JSON.stringify(nested(templatePath(template.kind), { [`${change.field}s`]: { [key]: value } }));
    return `kubectl patch ${template.kind.toLowerCase()} ${template.name} -n ${subject.namespace} --type merge -p '${patch}'`;
  }
  const words = value === null ? `without the ${change.field} ${key}` : `with the ${change.field} ${key}=${value}`;
  if (template !== undefined) return `make the ${template.kind} ${template.name} again ${words} in its pod template`;
  return `make the pod ${words} (what an existing pod is changed to later does not count)`;
}

/** A Job's template cannot be changed. */
function isImmutable(kind: string): boolean {
  return kind === 'Job';
}

function templatePath(kind: string): string[] {
  const template = ['spec', 'template', 'metadata'];
  return kind === 'CronJob' ? ['spec', 'jobTemplate', ...template] : template;
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight((inner, name) => ({ [name]: inner }), value);
}
