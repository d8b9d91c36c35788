import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { ForeignClaim } from '../../selection/foreign-overlap.ts';
import { type Finding, no, yes } from '../controller/revision-status.ts';
import type { ClusterView } from '../cluster-view.ts';

/**
 * Returns the condition `ForeignOverlap` and, if the overlap prevents publication, its message in
 * `foreign`. A webhook that is already live is not withdrawn: the younger injector must yield.
 */
export function foreignFinding(
  claim: ForeignClaim | undefined,
  { spec }: Pick<InjectorConfig, 'spec'>,
): { foreign?: string; finding: Finding } {
  if (claim === undefined)
    return { finding: no('NoForeignOverlap', 'no other injector selects the same pods by the same labels') };
  const message = `MutatingWebhookConfiguration ${claim.configuration} (webhook ${claim.webhook}) of another injector selects the same pods by the same labels`;
  if (spec.webhook.takeover) return { finding: no('Takeover', `${message}; spec.webhook.takeover is set`) };
  return { foreign: message, finding: yes('ForeignWebhook', message) };
}

/**
 * Returns the condition if another operator class already uses the name of a webhook configuration.
 * This happens to `default`, which an InjectorConfig and a RevisionTag share, and to a tag whose
 * class has changed.
 */
export function nameInUse(view: Pick<ClusterView, 'otherClassAt'>, webhookConfiguration: string): Finding | undefined {
  const other = view.otherClassAt(webhookConfiguration);
  if (other === undefined) return undefined;
  const message = `MutatingWebhookConfiguration ${webhookConfiguration} belongs to operator class ${other}, so nothing is published: delete the InjectorConfig or RevisionTag that owns it, or this one; if no operator of class ${other} runs any more, delete the webhook configuration`;
  return no('OtherOperatorClass', message);
}
