import type { Registry } from 'prom-client';
import { registerMetrics } from '../metrics/register-metrics.ts';
import type { ConfigurationTrialsOptions } from './configuration-trials.ts';

/** Metrics of trials. */
export function trialMetrics(registry: Registry): NonNullable<ConfigurationTrialsOptions['observer']> {
  const { counter, histogram } = registerMetrics(registry);
  const trialsHelp =
    'Configurations that were tried in a process of their own before they were loaded: fine, mistake, costly, put off (tried again later), not tried (the machine is to blame).';
  const trials = counter('injector_configuration_trials_total', trialsHelp, 'outcome');
  const durationHelp = 'Time that a trial took, including the start of the process where there was none.';
  const buckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
  const duration = histogram('injector_configuration_trial_seconds', durationHelp, buckets);
  return (outcome, seconds) => {
    trials.inc({ outcome });
    duration.observe(seconds);
  };
}
