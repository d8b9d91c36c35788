import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { ForeignClaim } from '../../selection/foreign-overlap.ts';
import { type Finding, no, yes } from '../controller/revision-status.ts';
import type { ClusterView } from '../cluster-view.ts';

/**
 * Returns the condition `ForeignOverlap`, which is True as long as the other webhook selects the
 * same pods, also with `spec.webhook.takeover`. If the overlap prevents publication, returns its
 * message in `foreign`. A live webhook is not withdrawn: the younger injector must yield.
 */
export function foreignFinding(
  claim: ForeignClaim | undefined,
  { spec }: Pick<InjectorConfig, 'spec'>,
): { foreign?: string; finding: Finding } {
  if (claim === undefined)
    return { finding: no('NoForeignOverlap', 'no other injector selects the same pods by the same labels') };
  const message = `MutatingWebhookConfiguration ${claim.configuration} (webhook ${claim.webhook}) of another injector selects the same pods by the same labels`;
  if (spec.webhook.takeover) {
    const takesOver = `${message}; spec.webhook.takeover is set, so this webhook is published too: as soon as WebhookReady is True, remove the webhook of the other injector, then spec.webhook.takeover`;
    return { finding: yes('Takeover', takesOver) };
  }
  return { foreign: message, finding: yes('ForeignWebhook', message) };
}

/**
 * Returns how pods move over from another injector without starting bare. `takeover` names the
 * field. In the other order, pods that are created in between would get no sidecar.
 */
export function safeTakeover(takeover: string): string {
  return `to take over its pods, set ${takeover}, and remove the other webhook after this one is published`;
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
