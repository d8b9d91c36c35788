import type { Scenario } from '../harness/scenario-context.ts';
import { walkEverything } from './least-privilege/walk.ts';

/** The chart's roles allow what the operator needs, by everything that this run has made it do, and nothing else. */
export const leastPrivilege: Scenario = {
  name: 'least-privilege',
  about: 'by the audit log of the whole run: no process was refused anything, and no right of the chart was unused',
  destructive: 'it needs the embedded control plane and its audit log',
  run: async (context) => {
    const { rights } = context;
    const audit = context.startAudit();
    if (rights.count === 0 || rights.unused().length > 0) await walkEverything(context);
    context.collectRights(audit);
    for (const right of rights.unused()) context.say(`unused: ${right}`);
    await context.checkNow(
      `each of ${rights.count} rights (verb, resource, role) is used`,
      () => rights.count > 0 && rights.unused().length === 0,
    );
    for (const refusal of rights.refusals) context.say(`refused: ${refusal}`);
    await context.checkNow('no process of the chart was refused anything', () => rights.refusals.size === 0);
    return `${rights.count} rights, all used, none missing`;
  },
};
