import { join } from 'node:path';
import { mergeConditions, type ObservedCondition } from '../../../src/api/conditions.ts';
import { isConflict } from '../../../src/kube/api-error.ts';
import { writeStatus } from '../../../src/kube/status-writer.ts';
import { applyAll, applyObject, readObjects } from '../../harness/apply.ts';
import { found } from '../../harness/found.ts';
import { injectorConfigs, smallConfig, type InjectorConfigObject } from '../../harness/injector-configs.ts';
import { paths } from '../../harness/paths.ts';
import type { Workbench } from './workbench.ts';

const client = 'km-status';

/** A status is written whole, once, only when it says something new, and never onto an object that somebody has changed meanwhile. */
export async function checkStatuses(bench: Workbench): Promise<void> {
  const { context } = bench;
  const writer = bench.client(client);
  await applyAll(context.client, readObjects(join(paths.crds, 'injectorconfigs.sidecar-injector.io.yaml')));
  const read = await applyObject(context.client, smallConfig(client));
  const write = async (object: InjectorConfigObject, message: string, now: Date) => {
    const observed: ObservedCondition[] = [
      { type: 'Ready', status: 'False', reason: 'Trying', message },
      { type: 'TemplatesValid', status: 'True', reason: 'Compiled', message: '' },
    ];
    const conditions = mergeConditions(object.status?.conditions ?? [], observed, now);
    const options = { fieldManager: client };
    return (await writeStatus(writer, object, { observedGeneration: 1, conditions }, options)) ?? object;
  };
  let object = read;
  for (let pass = 0; pass < 50; pass++) object = await write(object, 'the same', new Date(Date.now() + pass * 60_000));
  await context.check(
    'two conditions that 50 passes find the same are written once, together',
    () => {
      found(bench.writesOf(client).join(), 'patch 200');
      return object.status?.conditions?.length === 2;
    },
    { timeout: 0 },
  );
  const before = object.status?.conditions?.[0]?.lastTransitionTime;
  object = await write(object, 'another', new Date(Date.now() + 3_600_000));
  await context.check(
    'another message is one write, and no transition',
    () => {
      found(bench.writesOf(client).join(), 'patch 200,patch 200');
      return object.status?.conditions?.[0]?.lastTransitionTime === before;
    },
    { timeout: 0 },
  );
  await applyObject(context.client, smallConfig(client, { timeoutSeconds: 7 }));
  const refused = await write(object, 'too late', new Date()).catch((error: unknown) => error);
  const { status } = await context.client.get<InjectorConfigObject>(injectorConfigs, client);
  await context.check(
    'a status that was found for an older object is refused (409), and what is stored stays',
    () => isConflict(refused) && found(status?.conditions?.[0]?.message ?? '', 'another'),
    { timeout: 0 },
  );
  bench.compare('status', '50 passes that find the same', '1 request', '50 requests');
}
