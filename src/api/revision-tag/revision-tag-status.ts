import { z } from 'zod';
import { conditionsSchema } from '../kubernetes/field-types.ts';
import { restartStatusSchema, rolloutStatusSchema } from './rollout-status.ts';
import { usageStatusFields } from '../injector-config/usage-status.ts';

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
