import { Counter, Histogram, type Registry } from 'prom-client';
import type { ConfigurationTrialsOptions } from './configuration-trials.ts';

/** Metrics of trials. */
export function trialMetrics(registry: Registry): NonNullable<ConfigurationTrialsOptions['observer']> {
  const registers = [registry];
  const trials = new Counter({
    name: 'injector_configuration_trials_total',
    help: 'Configurations that were tried in a process of their own before they were loaded, by how that ended.',
    labelNames: ['outcome'],
    registers,
  });
  const duration = new Histogram({
    name: 'injector_configuration_trial_seconds',
    help: 'Time that a trial took, including the start of the process where there was none.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  return (outcome, seconds) => {
    trials.inc({ outcome });
    duration.observe(seconds);
  };
}
