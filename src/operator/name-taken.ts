import type { ClusterView } from './cluster-view.ts';
import type { Finding } from './revision-status.ts';

/**
 * Why a webhook configuration of this name cannot be ours: another operator class has it. That happens to the one of the default, which an
 * InjectorConfig of one class and a RevisionTag of another can both ask for, and to that of a tag that is made again in another class; whoever was
 * first keeps it until it has gone.
 */
export function nameTaken(view: Pick<ClusterView, 'otherClassAt'>, webhookConfiguration: string): Finding | undefined {
  const other = view.otherClassAt(webhookConfiguration);
  if (other === undefined) return undefined;
  const message = `MutatingWebhookConfiguration ${webhookConfiguration} belongs to operator class ${other}, so nothing is published: delete the InjectorConfig or RevisionTag that it is written for, or this one; or the webhook configuration, if no operator of class ${other} runs any more`;
  return { status: 'False', reason: 'OtherOperatorClass', message };
}
