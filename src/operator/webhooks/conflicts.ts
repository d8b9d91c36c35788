import { commandLine } from '../../api/command-line.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ObjectWrite } from '../controller/owned-objects.ts';
import { type Finding, no, yes } from '../controller/revision-status.ts';
import { resyncMs } from '../settings.ts';

/** How long a conflict lasts after the operator last restored a field, in milliseconds. */
const conflictMs = 60_000;
/** How long to wait before writing again after a conflict, in milliseconds. */
const backOffMs = 1000;
const maxNamed = 5;
/** Annotations that make cert-manager's cainjector write caBundles (pkg/apis/certmanager/v1). */
const injectorAnnotations = ['inject-ca-from', 'inject-ca-from-secret', 'inject-apiserver-ca'].map(
  (name) => `cert-manager.io/${name}`,
);

export interface ConflictMemory {
  /** The recent writes of other field managers, so that condition `Conflict` does not flap. */
  conflict?: { readonly at: number; readonly managers: Set<string>; readonly fields: Set<string> };
}

/**
 * Records the fields that the writes of a pass restored. Returns condition `Conflict` and the
 * milliseconds until the next pass. @param webhooks the webhook configurations of the pass
 */
export function observeConflict(
  memory: ConflictMemory,
  now: number,
  writes: readonly Pick<ObjectWrite, 'foreign'>[],
  webhooks: readonly KubernetesObject[] = [],
): { finding: Finding; again: number } {
  const foreign = writes.flatMap((write) => write.foreign);
  const isOver = memory.conflict === undefined || now - memory.conflict.at >= conflictMs;
  if (isOver && foreign.length === 0) {
    delete memory.conflict;
    return { finding: no('NoConflict', 'no other field manager writes to our fields'), again: resyncMs };
  }
  const before = isOver ? undefined : memory.conflict;
  const { managers, fields } = before ?? { managers: new Set<string>(), fields: new Set<string>() };
  for (const { manager, field } of foreign) {
    managers.add(manager);
    fields.add(field);
  }
  const at = before === undefined || foreign.length > 0 ? now : before.at;
  memory.conflict = { at, managers, fields };
  const message = `${some(managers)} also writes ${some(fields)}; the operator restores each object at most once a second`;
  const isCainjector = [...managers].some((manager) => manager.includes('cainjector'));
  const isBundle = [...fields].some((field) => field.endsWith('.caBundle'));
  const advice = isCainjector && isBundle ? cainjectorAdvice(webhooks) : undefined;
  const finding = advice === undefined ? yes('ForeignManager', message) : yes('CainjectorWrites', message + advice);
  return { finding, again: at + conflictMs - now };
}

/** Returns how long to wait before the next write, in ms; 0 or less if no wait is needed. */
export function conflictBackOff({ conflict }: ConflictMemory, now: number): number {
  return (conflict?.at ?? -Infinity) + backOffMs - now;
}

/** Names the annotation that makes cainjector write, and the command that removes it. */
function cainjectorAdvice(webhooks: readonly KubernetesObject[]): string | undefined {
  for (const { kind, metadata } of webhooks)
    for (const annotation of injectorAnnotations)
      if (metadata.annotations?.[annotation] !== undefined)
        return `; ${kind} ${metadata.name ?? ''} has annotation ${annotation}, which makes cert-manager's cainjector write its caBundle; to remove it: ${commandLine`kubectl annotate ${kind.toLowerCase()} ${metadata.name ?? ''} ${annotation}-`}`;
  return undefined;
}

function some(names: ReadonlySet<string>): string {
  const sorted = [...names].sort();
  const more = sorted.length - maxNamed;
  return sorted.slice(0, maxNamed).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
