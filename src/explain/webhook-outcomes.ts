import type { WebhookFinding } from './explain-creation.ts';

/** What the outcome of a webhook means, for people. */
export const webhookOutcomes: Readonly<Record<WebhookFinding['outcome'], string>> = {
  NotCalled: 'not called',
  Called: 'called',
  Injected: 'called, injects the pod',
  Skipped: 'called, does not inject the pod',
  Refused: 'refuses the pod',
  Unknown: 'unknown',
};
