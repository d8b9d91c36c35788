import type { ClusterView } from './cluster-view.ts';
import type { Finding } from './revision-status.ts';

/**
 * Why a webhook configuration of this name cannot be ours: another operator class has it. That happens to the one of the default, which an
 * InjectorConfig of one class and a RevisionTag of another can both ask for; whoever was first keeps it.
 */
export function nameTaken(view: Pick<ClusterView, 'otherClassAt'>, webhookConfiguration: string): Finding | undefined {
  const other = view.otherClassAt(webhookConfiguration);
  if (other === undefined) return undefined;
  const message = `MutatingWebhookConfiguration ${webhookConfiguration} belongs to operator class ${other}, so nothing is published: delete the InjectorConfig or RevisionTag default of that class, or this one`;
  return { status: 'False', reason: 'OtherOperatorClass', message };
}
