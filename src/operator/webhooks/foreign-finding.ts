import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { ForeignClaim } from '../../selection/foreign-overlap.ts';
import { type Finding, no, yes } from '../controller/revision-status.ts';
import type { ClusterView } from '../cluster-view.ts';

/**
 * What it comes to for an InjectorConfig: a sentence where nothing may be installed because of it, and the condition. What is in force already is not
 * withdrawn when somebody else appears later: the one that came second has to go.
 */
export function foreignFinding(
  claim: ForeignClaim | undefined,
  { spec }: Pick<InjectorConfig, 'spec'>,
): { foreign?: string; finding: Finding } {
  if (claim === undefined)
    return { finding: no('NoForeignOverlap', 'no injector of somebody else takes the same pods by the same labels') };
  const message = `MutatingWebhookConfiguration ${claim.configuration} (webhook ${claim.webhook}) of another injector takes the same pods by the same labels`;
  if (spec.webhook.takeover) return { finding: no('Takeover', `${message}; spec.webhook.takeover is set`) };
  return { foreign: message, finding: yes('ForeignWebhook', message) };
}

/**
 * Why a webhook configuration of this name cannot be ours: another operator class has it. That happens to the one of the default, which an
 * InjectorConfig of one class and a RevisionTag of another can both ask for, and to that of a tag that is made again in another class; whoever was
 * first keeps it until it has gone.
 */
export function nameTaken(view: Pick<ClusterView, 'otherClassAt'>, webhookConfiguration: string): Finding | undefined {
  const other = view.otherClassAt(webhookConfiguration);
  if (other === undefined) return undefined;
  const message = `MutatingWebhookConfiguration ${webhookConfiguration} belongs to operator class ${other}, so nothing is published: delete the InjectorConfig or RevisionTag that it is written for, or this one; or the webhook configuration, if no operator of class ${other} runs any more`;
  return no('OtherOperatorClass', message);
}
