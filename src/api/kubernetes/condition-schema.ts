import { z } from 'zod';

const condition = z.object({
  type: z.string().max(316).describe('What the condition is about, e.g. Ready.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
  observedGeneration: z.int().min(0).exactOptional().describe('The generation that was looked at.'),
  lastTransitionTime: z.string().meta({ format: 'date-time' }).describe('When the status last changed.'),
  reason: z.string().max(1024).describe('One word for programs.'),
  message: z.string().max(32_768).describe('A sentence for people.'),
});

/** `status.conditions` of every resource: metav1.Condition, one of each type. */
export function conditionsSchema(description: string) {
  return z
    .array(condition)
    .max(32)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })
    .exactOptional()
    .describe(description);
}
