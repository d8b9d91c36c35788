import { z } from 'zod';
import {
  dnsLabel,
  flag,
  conditionsSchema,
  count,
  optional,
  optionalObject,
  optionalTime,
  whole,
} from '../kubernetes/field-types.ts';
import { defaultOperatorClass, type Resource } from '../injector-config/injector-config.ts';
import { rolloutStrategySchema } from './rollout-strategy.ts';
import { usageStatusFields, listedNames, workloadList } from '../injector-config/usage-status.ts';

const rolloutRevision = z.object({
  revision: z.string().max(63).describe('The name of the revision.'),
  injectorConfig: z.string().max(63).describe('The name of the InjectorConfig of the revision.'),
  hash: z.string().max(64).describe('The hash of the configuration.'),
});

const pods = z.object({
  ready: count('The number of ready pods.'),
  failing: count('The number of failing pods.'),
  total: count('The number of all pods.'),
});

/** `status.rollout` of a RevisionTag, the only persistent state of a rollout. */
export const rolloutStatusSchema = z.object({
  // The phases have the same names as in Argo Rollouts and Flagger, if a similar phase exists.
  phase: z
    .enum(['Idle', 'Shadowing', 'Progressing', 'WaitingForPods', 'Paused', 'RolledBack', 'Promoted'])
    .describe('The phase of the rollout.'),
  reason: z.string().max(64).describe('The reason for the phase, as one CamelCase word.'),
  message: z.string().max(2048).describe('A human-readable message with details.'),
  stable: rolloutRevision.describe('The configuration of the workloads that do not use the canary.'),
  canary: optional(rolloutRevision, 'The configuration of the canary. Set only during a rollout.'),
  step: optional(
    whole(0, 20),
    'The index of the current step in spec.strategy.canary.steps, starting at 0. After the rollout, the number of completed steps.',
  ),
  weight: whole(0, 100).describe('The desired percentage of workloads that use the canary.'),
  threshold: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .max(16)
    .describe(
      'The share of workloads that use the canary, as 16 hex digits. Workloads with a lower rank use the canary.',
    ),
  shadow: z.boolean().describe('Whether the canary is rendered and compared, but not used.'),
  startedAt: optionalTime('The start time of the current rollout, or of the last one.'),
  stepStartedAt: optionalTime('The start time of the step.'),
  pausedAt: optionalTime('The start time of the pause, when the step had all its evidence.'),
  resumed: optional(z.boolean(), 'Whether a user ended the pause of the step.'),
  generation: optional(
    z.int().min(0),
    'The metadata.generation at which the rollout was rolled back. A new generation starts a new rollout.',
  ),
  knownWorkloads: count('The number of workloads that follow the tag and have known pods.'),
  canaryWorkloads: count('The number of these workloads that should use the canary.'),
  pods: z
    .object({ stable: pods.describe('Pods of the stable revision.'), canary: pods.describe('Pods of the canary.') })
    .describe('The number of pods by the revision that injected them.'),
  stableBefore: optional(
    pods.omit({ ready: true }),
    'The number of pods of the stable revision when the rollout began. Analysis does not attribute their failures to the canary.',
  ),
  injectionErrors: count('The number of failed canary injections.'),
  shadowReport: optionalObject('The results of comparing the canary with the stable revision.', {
    compared: count('The number of admissions for which replicas rendered both configurations.'),
    failed: count('The number of compared admissions for which the canary failed.'),
    differing: count('The number of compared admissions for which the rendered pods differ.'),
    changed: z.array(z.string().max(256)).max(listedNames).describe('The first 20 fields that differ.'),
    error: optional(z.string().max(1024), 'One of the errors.'),
  }),
  shadowBefore: optionalObject('The counts of the replicas when the shadow step began.', {
    compared: count('The number of comparisons before the step.'),
    failed: count('The number of failures before the step.'),
  }),
  rolledBackFrom: optional(
    rolloutRevision,
    'The canary that was rolled back last. Removed when it is retried or another canary is promoted.',
  ),
  action: optionalObject('The result of the latest request (annotation sidecar-injector.io/action).', {
    verb: z.string().max(20).describe('The requested action.'),
    nonce: z.string().max(63).describe('The nonce of the request.'),
    state: z.enum(['Done', 'Refused']).describe('The result of the request.'),
    message: z.string().max(1024).describe('A description of the action, or the reason why it was refused.'),
  }),
});

export type RolloutState = z.output<typeof rolloutStatusSchema>;
export type RolloutPhase = RolloutState['phase'];
/** A revision and the hash of its configuration. */
export type RolloutRevision = z.output<typeof rolloutRevision>;
export type RolloutPodCounts = z.output<typeof pods>;

const reason = z.string().max(64).describe('The reason, as one CamelCase word.');
const message = z.string().max(2048).describe('A human-readable message with details.');
const workloads = (description: string) => workloadList({ reason, message }, description);

/** `status.restarts` of a RevisionTag: the progress of restarts of stale workloads. */
export const restartStatusSchema = z.object({
  phase: z
    .enum(['Idle', 'Restarting', 'Waiting', 'Stopped', 'NotAllowed'])
    .describe(
      'The phase of the restarts. Idle: no workload needs a restart. Restarting: some workloads were restarted and are not complete. Waiting: no restart is in progress, and waiting lists the reasons; or the operator has not read all objects, which the message names. Stopped: restarted workloads fail. NotAllowed: this operator may not restart workloads.',
    ),
  message: z.string().max(2048).describe('A human-readable message with details.'),
  path: optional(
    z.string().max(512),
    "The path of the tag's webhook from which the operator determined the stale pods.",
  ),
  stale: count(
    'The number of workloads with stale pods, including pods without a sidecar if spec.strategy.restart.missing is true.',
  ),
  missing: optional(
    count('The number of these workloads that have pods without a sidecar.'),
    'Set if spec.strategy.restart.missing is true.',
  ),
  inProgress: count('The number of workloads that were restarted and are not complete.'),
  inPlace: optionalObject('What is expected of the stale workloads, if spec.strategy.update is InPlace.', {
    workloads: count('The number of workloads whose pods can be updated in place.'),
    byRestart: count('The number of workloads whose pods can be updated only by a restart.'),
    notCompared: count('The number of workloads whose pods have not been compared with new pods yet.'),
    obstacle: optional(
      z.string().max(512),
      'The first workload that needs a restart, the field that keeps its pods from being updated in place, and why.',
    ),
  }),
  waiting: workloads('The first 20 workloads that wait for their restart, with the reason.'),
  untouched: workloads(
    'The first 20 workloads that the operator does not restart, with the reason. Restart them manually.',
  ),
});

export type RestartStatus = z.output<typeof restartStatusSchema>;

export const revisionTagKind = 'RevisionTag';
export const revisionTagPlural = 'revisiontags';

/** The name of the revision or tag that the injection label, which has no revision, selects. */
export const defaultRevision = 'default';

export const revisionTagSpecSchema = z.object({
  revision: dnsLabel().describe(
    'The desired revision of the tag. Change it to move all namespaces and pods that follow the tag.',
  ),
  operatorClass: dnsLabel(40)
    .default(defaultOperatorClass)
    .describe(
      'The class of the operator that manages this object. Must be the class of the InjectorConfig of the revision. Immutable.',
    ),
  enableNamespacesByDefault: flag(
    'Whether tag default also selects pods and namespaces that carry no injection label, even if the InjectorConfig does not. Allowed only on tag default.',
  ),
  strategy: optional(
    rolloutStrategySchema,
    'How the tag moves to another revision. If unset, the tag moves immediately, and the operator restarts no workload.',
  ),
});

/** `spec` with all defaults. */
export type RevisionTagSpec = z.output<typeof revisionTagSpecSchema>;
/** `status`. A field is absent if the operator has not set it. */
export type RevisionTagStatus = z.output<typeof revisionTagStatusSchema>;

/** A RevisionTag with defaults; cluster-scoped. Labels select a tag by metadata.name. */
export type RevisionTag = Resource<typeof revisionTagKind, RevisionTagSpec, RevisionTagStatus>;

export const revisionTagStatusSchema = z.object({
  observedGeneration: optional(z.int().min(0), 'The metadata.generation that this status describes.'),
  stableRevision: optional(
    z.string().max(63),
    'The stable revision of the tag. It becomes spec.revision when that revision is ready.',
  ),
  injectorConfig: optional(z.string().max(63), 'The InjectorConfig of the stable revision.'),
  hash: optional(z.string().max(64), 'The hash of the stable configuration in the path of the webhook.'),
  conditions: conditionsSchema('The conditions Ready, RevisionReady, WebhookReady and others.'),
  rollout: optional(rolloutStatusSchema, 'The state of the rollout, if spec.strategy.canary is set.'),
  restarts: optional(restartStatusSchema, 'The progress of restarts of stale workloads.'),
  ...usageStatusFields,
});
