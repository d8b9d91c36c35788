import type { ExplainedWebhook } from '../../api/dashboard-reports.ts';
import { webhookOutcomes } from '../../explain/webhook-outcomes.ts';

/** The steps of each webhook; those of called webhooks are open. */
export function DecisionSteps({ webhooks }: { readonly webhooks: readonly ExplainedWebhook[] }) {
  return (
    <section aria-labelledby="title-steps">
      <h2 id="title-steps">Decision</h2>
      {webhooks.map(({ configuration, webhook, outcome, message, steps }) => (
        <details key={`${configuration}/${webhook}`} open={outcome !== 'NotCalled'}>
          <summary>
            {configuration}/{webhook}: {webhookOutcomes[outcome]}
          </summary>
          {steps.length === 0 ? (
            <p>{message}</p>
          ) : (
            <ol>
              {steps.map(({ step, result, message: why }, index) => (
                <li key={index}>
                  <strong class={`step-${result.toLowerCase()}`}>{result}</strong> {step}: {why}
                </li>
              ))}
            </ol>
          )}
        </details>
      ))}
    </section>
  );
}
