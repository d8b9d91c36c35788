import { deepEqual } from 'node:assert/strict';
import type { Scenario } from '../harness/scenario.ts';
import { applyUntilReady, smallConfig } from '../harness/injector-configs.ts';
import { checkObjects } from './resource-validation/objects.ts';
import { checkOverlap } from './resource-validation/overlap.ts';
import { checkReferences } from './resource-validation/references.ts';
import { checkReviews } from './resource-validation/reviews.ts';
import { checkStarts } from './resource-validation/starts.ts';
import { checkTemplates } from './resource-validation/templates.ts';

/** Bad input of every kind: one clear error where its owner looks, waiting where waiting helps, no other revision disturbed. */
export const resourceValidation: Scenario = {
  name: 'resource-validation',
  about: 'bad objects, templates, references, AdmissionReviews and starts: one clear error each, nobody else disturbed',
  run: async (context) => {
    const installation = await context.install();
    const bySchema = await checkObjects(context, ['schema', 'rule']);
    const operator = await installation.startOperator();
    const byWebhook = await checkObjects(context, ['webhook']);
    const bystander = await applyUntilReady(context.client, smallConfig('bystander'));
    await checkTemplates(context, installation, operator);
    await checkReferences(context);
    await checkOverlap(context, operator);
    const reviews = await checkReviews(context, installation, operator);
    await checkStarts(context, installation, operator);
    await context.check('the other revision was Ready all the time', async () => {
      const now = await applyUntilReady(context.client, smallConfig('bystander'));
      deepEqual(now.status?.conditions, bystander.status?.conditions);
      return true;
    });
    return `${bySchema} objects refused by the API server, ${byWebhook} by the webhook; ${reviews} bad reviews answered`;
  },
};
