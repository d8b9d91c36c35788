import type { Scenario } from '../harness/scenario-context.ts';
import { checkDisturbances } from './repair/disturbances.ts';
import { checkHostileWriter } from './repair/hostile-writer.ts';
import { checkSecondWriters } from './repair/second-writers.ts';

/** Somebody edits or deletes what the operator made: it is restored, said in an Event, and injection goes on. */
export const repair: Scenario = {
  name: 'repair',
  core: true,
  about: 'what the operator made is edited, deleted, fought over: restored at once, and no war of writes',
  run: async (context) => {
    const installation = await context.install();
    await installation.startOperator();
    const slowest = await checkDisturbances(context);
    const writes = await checkHostileWriter(context, installation);
    await checkSecondWriters(context, installation);
    return `slowest repair ${slowest} ms; ${writes} writes against a hostile writer in 5 s`;
  },
};
