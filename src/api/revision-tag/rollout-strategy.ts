import { z } from 'zod';
import {
  choice,
  dnsSubdomainPattern,
  duration,
  durationPattern,
  flag,
  list,
  optional,
  optionalObject,
  text,
  whole,
} from '../kubernetes/field-types.ts';

/** The value of `pause` for a pause that a user ends. */
export const untilResumed = 'UntilResumed';

const pausePattern = new RegExp(`^(${untilResumed}|${durationPattern.source.replaceAll(/^\^|\$$/g, '')})$`);

const step = z.object({
  weight: whole(0, 100).describe(
    'The percentage of workloads that use the canary. Of the workloads known when the step begins, exactly this percentage uses the canary, rounded up.',
  ),
  shadow: flag(
    'When true, no workload uses the canary in this step. Replicas render the canary in addition to the stable revision and compare the results. Requires weight 0. Shadow steps must precede all other steps.',
  ),
  pause: optional(
    z.string().min(2).max(24).regex(pausePattern, `must be a duration such as 10m or 1h30m, or ${untilResumed}`),
    'How long to pause at this step after analysis has enough evidence: a duration, or UntilResumed, in which case a user ends the pause.',
  ),
  minimumPods: optional(
    whole(1, 10_000),
    'The number of new pods of the canary that must also be ready before this step ends, of workloads that did not use the canary in the previous step; or all pods of these workloads if they have fewer pods. In a shadow step, replaces analysis.minimumPods. If unset, these pods are not counted separately.',
  ),
});

const analysis = z.object({
  minimumPods: whole(1, 10_000)
    .default(3)
    .describe(
      'The number of canary pods that must be ready before a step ends, or all pods of the canary workloads if these have fewer pods. In a shadow step, the number of admissions that replicas must have compared.',
    ),
  minReadySeconds: whole(0, 86_400).default(60).describe('How long canary pods must have been ready, in seconds.'),
  readyTimeout: duration()
    .default('5m')
    .describe('A pod counts as failing if it is not ready for longer than this duration. At least 10s.'),
  maximumFailingPercent: whole(0, 100)
    .default(10)
    .describe(
      'How much the percentage of failing canary pods may exceed the percentage of failing stable pods, in percentage points.',
    ),
  maximumRestarts: whole(0, 1000)
    .default(2)
    .describe('A pod counts as failing if its containers have restarted more than this number of times.'),
  maximumInjectionErrors: whole(0, 1_000_000).default(0).describe('The maximum number of failed canary injections.'),
});

const canary = z.object({
  steps: list(step, 20).min(1).describe('The steps of a rollout. After the last step the canary is promoted.'),
  analysis: analysis.prefault({}).describe('The evidence for a step, and the failures that cause a rollback.'),
});

const restart = z.object({
  maxUnavailableWorkloads: whole(1, 1000)
    .default(1)
    .describe('The maximum number of workloads in the cluster that restart at the same time.'),
  perNamespace: whole(1, 1000)
    .default(1)
    .describe('The maximum number of workloads in one namespace that restart at the same time.'),
  minReadySeconds: whole(0, 86_400)
    .default(10)
    .describe('The number of seconds for which a restarted workload must be complete before its restart is done.'),
  readyTimeout: duration()
    .default('10m')
    .describe(
      'If a restarted workload is incomplete and makes no progress for longer than this duration, the operator stops further restarts. At least 10s.',
    ),
  missing: flag(
    'When true, workloads with pods that should have a sidecar and have none are restarted, too. The pods may be older than the webhook, or than the label of their namespace.',
  ),
  prepull: flag(
    'When true, each node pulls the new images before the first pod on it is updated in place (update InPlace), by a pod in the namespace of the operator that ends at once.',
  ),
  pullSecrets: optional(
    list(text(253, dnsSubdomainPattern, 'must be the name of a Secret'), 10),
    'The names of Secrets in the namespace of the operator with which prepull pulls images.',
  ),
});

/** The days of a week, in the order of `Date.getUTCDay`. */
export const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;

const beginPattern = /^([01][0-9]|2[0-3]):[0-5][0-9]$/;
const endPattern = /^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$/;

/** The name of a time zone. The rule of the CRD checks whether the zone exists. */
const timeZonePattern = /^[A-Z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+){0,2}$/;

const updateWindow = z.object({
  days: optional(
    list(z.enum(weekdays), 7).min(1),
    'The days on which the window begins, such as Sat. If unset, it begins on every day.',
  ),
  from: text(5, beginPattern, 'must be a time such as "22:00"').describe(
    'The local time at which the window begins, such as "22:00".',
  ),
  to: text(5, endPattern, 'must be a time such as "05:00", at most "24:00"').describe(
    'The local time at which the window ends, such as "05:00". If this is not later than from, the window ends on the next day.',
  ),
  timeZone: text(64, timeZonePattern, 'must be the name of a time zone such as Europe/Berlin')
    .default('UTC')
    .describe('The time zone of days, from and to, such as Europe/Berlin.'),
});

/** A weekly window in which the operator may disrupt workloads. */
export type UpdateWindow = z.output<typeof updateWindow>;

export const rolloutStrategySchema = z.object({
  canary: optional(
    canary,
    'Moves the tag in steps, by percentages of the workloads. If unset, the tag moves immediately.',
  ),
  restart: optional(
    restart,
    'Restarts workloads with stale pods, a few at a time. If unset, the operator restarts no workload.',
  ),
  update: optional(
    z.enum(['Restart', 'InPlace']),
    'How the operator updates stale pods within the limits of restart. Restart (the default): it restarts their workloads. InPlace: it changes the images, labels and annotations of running pods, so that only sidecars restart, and restarts a workload only if this is not possible.',
  ),
  windows: optional(
    list(updateWindow, 14).min(1),
    'When the operator may begin to restart workloads. Restarts that have begun are completed. If unset, at any time.',
  ),
  rollback: optionalObject('Additional actions of a rollback.', {
    restart: choice(
      ['None', 'Canary'],
      'None',
      'None: the operator restarts no workload. Canary: it restarts the workloads that used the canary, so that they return to stable, within the limits of restart.',
    ),
  }),
});

export type RolloutStrategy = z.output<typeof rolloutStrategySchema>;
export type CanaryStrategy = NonNullable<RolloutStrategy['canary']>;
export type CanaryStep = CanaryStrategy['steps'][number];
export type CanaryAnalysis = CanaryStrategy['analysis'];
export type RestartStrategy = NonNullable<RolloutStrategy['restart']>;

/** Reports whether a strategy asks for updates in place. */
export function isInPlace(strategy: RolloutStrategy | undefined): boolean {
  return strategy?.update === 'InPlace';
}

/** Returns the limits of restarts, or the defaults if the strategy sets only rollback.restart. */
export function restartBounds(strategy: RolloutStrategy): RestartStrategy {
  return strategy.restart ?? restart.parse({});
}
