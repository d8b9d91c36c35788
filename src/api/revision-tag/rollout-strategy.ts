import { z } from 'zod';
import { choice, duration, durationPattern, flag, list, optionalObject, whole } from '../kubernetes/field-types.ts';

/** What `pause` says when a person has to end it. */
export const untilResumed = 'UntilResumed';

const pausePattern = new RegExp(`^(${untilResumed}|${durationPattern.source.replaceAll(/^\^|\$$/g, '')})$`);

const step = z.object({
  weight: whole(0, 100).describe(
    'The share of the workloads that get the canary, in percent: of those known when the step begins exactly this share, rounded up.',
  ),
  shadow: flag(
    'No workload gets the canary: it is rendered beside the stable revision and compared. Weight 0, before all other steps.',
  ),
  pause: z
    .string()
    .min(2)
    .max(24)
    .regex(pausePattern, `must be a duration such as 10m or 1h30m, or ${untilResumed}`)
    .exactOptional()
    .describe(
      'How long to stay at this step once the evidence is there: a duration, or UntilResumed, which a person ends.',
    ),
});

const analysis = z.object({
  minimumPods: whole(1, 10_000)
    .default(3)
    .describe(
      'How many pods of the canary must be ready before a step ends; all pods of the workloads that get it, where those are fewer. In a shadow step: how many admissions must have been compared.',
    ),
  minReadySeconds: whole(0, 86_400).default(60).describe('For how long they must have been ready, within the step.'),
  readyTimeout: duration()
    .default('5m')
    .describe('A pod that is not ready for longer counts as failing; 10s at least.'),
  maximumFailingPercent: whole(0, 100)
    .default(10)
    .describe("How many more of the canary's pods than of the stable revision's may be failing, in percent of each."),
  maximumRestarts: whole(0, 1000)
    .default(2)
    .describe('A pod whose containers have restarted more often counts as failing.'),
  maximumInjectionErrors: whole(0, 1_000_000).default(0).describe('How many injections of the canary may fail.'),
});

const canary = z.object({
  steps: list(step, 20).min(1).describe('The steps, one after the other; after the last one the canary is promoted.'),
  analysis: analysis.prefault({}).describe('What is asked of the canary, and what ends it.'),
});

const restart = z.object({
  maxUnavailableWorkloads: whole(1, 1000)
    .default(1)
    .describe('How many workloads of the whole cluster may be restarting at a time.'),
  perNamespace: whole(1, 1000).default(1).describe('How many of one namespace.'),
  minReadySeconds: whole(0, 86_400)
    .default(10)
    .describe('For how long a restarted workload must have been complete before it counts as done.'),
  readyTimeout: duration()
    .default('10m')
    .describe(
      'While a restarted workload is not complete and makes no progress for longer, no other is restarted; 10s at least.',
    ),
});

/** `spec.strategy` of a RevisionTag: how it gets from one revision to the next. */
export const rolloutStrategySchema = z.object({
  canary: canary.exactOptional().describe('In steps, by shares of the workloads. Absent: at once.'),
  restart: restart
    .exactOptional()
    .describe('Restart workloads whose pods are stale, a few at a time. Absent: nothing is restarted.'),
  rollback: optionalObject('What else a rollback does.', {
    restart: choice(
      ['None', 'Canary'],
      'None',
      'Canary: workloads that got the canary are restarted back, within the bounds of restart.',
    ),
  }),
});

/** `spec.strategy` with its defaults. */
export type RolloutStrategy = z.output<typeof rolloutStrategySchema>;
export type CanaryStrategy = NonNullable<RolloutStrategy['canary']>;
export type CanaryStep = CanaryStrategy['steps'][number];
export type CanaryAnalysis = CanaryStrategy['analysis'];
export type RestartStrategy = NonNullable<RolloutStrategy['restart']>;

/** The bounds of restarts: those of the spec, or their defaults where only a rollback restarts anything. */
export function restartBounds(strategy: RolloutStrategy): RestartStrategy {
  return strategy.restart ?? restart.parse({});
}
