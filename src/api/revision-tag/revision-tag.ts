import { z } from 'zod';
import {
  dnsLabel,
  flag,
  conditionsSchema,
  count,
  optionalObject,
  optionalTime,
  whole,
} from '../kubernetes/field-types.ts';
import { defaultOperatorClass, type Resource } from '../injector-config/injector-config.ts';
import { rolloutStrategySchema } from './rollout-strategy.ts';
import { usageStatusFields, listedNames, workloadList } from '../injector-config/usage-status.ts';

/** A revision, and the configuration of it that pods get. */
const place = z.object({
  revision: z.string().max(63).describe('The revision.'),
  injectorConfig: z.string().max(63).describe('The name of the InjectorConfig of that revision.'),
  hash: z.string().max(64).describe('Hash of its configuration.'),
});

const pods = z.object({
  ready: count('Pods that are ready.'),
  failing: count('Pods that count as failing.'),
  total: count('All of them.'),
});

/** `status.rollout` of a RevisionTag: all that is remembered of a rollout. */
export const rolloutStatusSchema = z.object({
  // The words are those of Argo Rollouts and Flagger where these have one.
  phase: z
    .enum(['Idle', 'Shadowing', 'Progressing', 'WaitingForPods', 'Paused', 'RolledBack', 'Promoted'])
    .describe('Where the rollout stands.'),
  reason: z.string().max(64).describe('One word for programs.'),
  message: z.string().max(2048).describe('A sentence for people.'),
  stable: place.describe('What workloads get that are not part of the share.'),
  canary: place.exactOptional().describe('What the others get; only while a rollout is under way.'),
  step: whole(0, 20)
    .exactOptional()
    .describe('The step of spec.strategy.canary.steps, counted from 0; once it is over, how many were done.'),
  weight: whole(0, 100).describe('The share of the workloads that is to get the canary, in percent.'),
  threshold: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .max(16)
    .describe('Workloads whose rank is below get the canary; 16 hex digits.'),
  shadow: z.boolean().describe('Whether the canary is only rendered and compared.'),
  startedAt: optionalTime('When the rollout began: the one under way, or the last one.'),
  stepStartedAt: optionalTime('When the step began.'),
  pausedAt: optionalTime('When the pause of the step began: when all evidence was there.'),
  resumed: z.boolean().exactOptional().describe('The pause of the step was ended by a person.'),
  generation: z
    .int()
    .min(0)
    .exactOptional()
    .describe('The metadata.generation at which it was rolled back; another one begins anew.'),
  knownWorkloads: count('Workloads that follow the tag, as far as pods of them are known.'),
  canaryWorkloads: count('Those among them that are to get the canary.'),
  pods: z
    .object({ stable: pods.describe('Of the stable revision.'), canary: pods.describe('Of the canary.') })
    .describe('Pods by what injected them.'),
  stableBefore: pods
    .omit({ ready: true })
    .exactOptional()
    .describe(
      'Of the stable revision when the rollout began: what failed then already is not the fault of the canary.',
    ),
  injectionErrors: count('Injections of the canary that failed.'),
  shadowReport: optionalObject('What was found by rendering the canary beside the stable revision.', {
    compared: count('Admissions for which both were rendered.'),
    failed: count('Those for which the canary failed.'),
    differing: count('Those for which the pods differ.'),
    changed: z.array(z.string().max(256)).max(listedNames).describe('The first 20 fields that differ.'),
    error: z.string().max(1024).exactOptional().describe('One of the errors.'),
  }),
  shadowBefore: optionalObject('What replicas had counted before the shadow step began.', {
    compared: count('Comparisons before the step.'),
    failed: count('Failures before the step.'),
  }),
  rolledBackFrom: place
    .exactOptional()
    .describe('The canary that was rolled back last; until it is tried again, or another one is promoted.'),
  action: optionalObject('The answer to the latest request (annotation sidecar-injector.io/action).', {
    verb: z.string().max(20).describe('What was asked for.'),
    nonce: z.string().max(63).describe('The nonce of the request.'),
    state: z.enum(['Done', 'Refused']).describe('What became of it.'),
    message: z.string().max(1024).describe('What was done, or why not.'),
  }),
});

/** `status.rollout`. */
export type RolloutState = z.output<typeof rolloutStatusSchema>;
export type RolloutPhase = RolloutState['phase'];
/** A revision, and the configuration of it that pods get. */
export type RolloutRevision = z.output<typeof place>;
/** Pods of one revision, counted. */
export type PodCounts = z.output<typeof pods>;

const reason = z.string().max(64).describe('Why.');
const message = z.string().max(2048).describe('A sentence for people.');
const workloads = (description: string) => workloadList({ reason, message }, description);

/** `status.restarts` of a RevisionTag: how the restarts of stale workloads go on. */
export const restartStatusSchema = z.object({
  phase: z
    .enum(['Idle', 'Restarting', 'Waiting', 'Stopped', 'NotAllowed'])
    .describe(
      'Idle: nothing to do. Restarting: some are restarted and not complete yet. Waiting: none is, and each of those in waiting has its reason; or something has not been read yet, and the message says what. Stopped: what was restarted does not do well. NotAllowed: this operator restarts nothing.',
    ),
  message: z.string().max(2048).describe('A sentence for people.'),
  path: z
    .string()
    .max(512)
    .exactOptional()
    .describe('The path of the webhook of the tag by which its pods were judged for this.'),
  stale: count('Workloads with stale pods.'),
  inProgress: count('Workloads that were restarted and are not complete yet.'),
  waiting: workloads('The first 20 workloads that wait, and for what.'),
  untouched: workloads('The first 20 workloads that are never restarted, and why: somebody else has to.'),
});

/** `status.restarts`. */
export type RestartStatus = z.output<typeof restartStatusSchema>;

export const revisionTagKind = 'RevisionTag';
export const revisionTagPlural = 'revisiontags';

/** The name that also answers to the plain injection label, as a revision and as a tag. */
export const defaultRevision = 'default';

/** `spec`: a name that namespaces follow, and the revision that it means now. */
export const revisionTagSpecSchema = z.object({
  revision: dnsLabel().describe(
    'The revision that the tag leads to. Change it to move everything that follows the tag.',
  ),
  operatorClass: dnsLabel(40)
    .default(defaultOperatorClass)
    .describe('Which operator looks after this object; it must be that of the InjectorConfig of the revision.'),
  enableNamespacesByDefault: flag(
    'With tag default: pods without any label, in namespaces without any, are injected too, also when the InjectorConfig does not ask for it.',
  ),
  strategy: rolloutStrategySchema
    .exactOptional()
    .describe('How the tag gets from one revision to the next. Absent: at once, and nothing is restarted.'),
});

/** `spec` with every default filled in. */
export type RevisionTagSpec = z.output<typeof revisionTagSpecSchema>;
/** `status`; every field is absent until the operator has written it. */
export type RevisionTagStatus = z.output<typeof revisionTagStatusSchema>;

/** A second name for a revision: cluster-scoped, named as namespaces and pods name it. */
export type RevisionTag = Resource<typeof revisionTagKind, RevisionTagSpec, RevisionTagStatus>;

/** `status`, written by the operator alone. */
export const revisionTagStatusSchema = z.object({
  observedGeneration: z.int().min(0).exactOptional().describe('The generation this status was written for.'),
  stableRevision: z
    .string()
    .max(63)
    .exactOptional()
    .describe('The revision that pods get now; spec.revision once that is ready.'),
  injectorConfig: z.string().max(63).exactOptional().describe('The name of the InjectorConfig of that revision.'),
  hash: z.string().max(64).exactOptional().describe('Hash of the configuration that the webhook names.'),
  conditions: conditionsSchema('Ready, RevisionReady, WebhookReady and others.'),
  rollout: rolloutStatusSchema.exactOptional().describe('Where the rollout stands, with spec.strategy.canary.'),
  restarts: restartStatusSchema.exactOptional().describe('How the restarts of stale workloads go on.'),
  ...usageStatusFields,
});
