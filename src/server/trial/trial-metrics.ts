import type { Registry } from 'prom-client';
import { registerMetrics } from '../metrics/register-metrics.ts';
import type { ConfigurationTrialsOptions } from './configuration-trials.ts';

export function trialMetrics(registry: Registry): NonNullable<ConfigurationTrialsOptions['observer']> {
  const { counter, histogram } = registerMetrics(registry);
  const trialsHelp =
    'Trials of configurations in another process, by outcome: fine, mistake, costly, put off (will run again), not tried (the machine prevented the trial).';
  const trials = counter('injector_configuration_trials_total', trialsHelp, 'outcome');
  const durationHelp = 'Duration of a trial, including the start of the process if necessary.';
  const buckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
  const duration = histogram('injector_configuration_trial_seconds', durationHelp, buckets);
  return (outcome, seconds) => {
    trials.inc({ outcome });
    duration.observe(seconds);
  };
}
