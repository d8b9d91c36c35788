import type { Registry } from 'prom-client';
import { registerMetrics } from '../metrics/register-metrics.ts';
import type { ConfigurationTrialsOptions } from './configuration-trials.ts';

/** Metrics of trials. */
export function trialMetrics(registry: Registry): NonNullable<ConfigurationTrialsOptions['observer']> {
  const { counter, histogram } = registerMetrics(registry);
  const trials = counter(
    'injector_configuration_trials_total',
    'Configurations that were tried in a process of their own before they were loaded, by how that ended.',
    'outcome',
  );
  const duration = histogram(
    'injector_configuration_trial_seconds',
    'Time that a trial took, including the start of the process where there was none.',
    [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  );
  return (outcome, seconds) => {
    trials.inc({ outcome });
    duration.observe(seconds);
  };
}
