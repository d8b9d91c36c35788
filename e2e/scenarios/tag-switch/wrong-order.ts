import { applyObject } from '../../harness/apply.ts';
import { markedConfig } from '../../harness/load/marked-config.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { waitFor } from '../../harness/wait-for.ts';
import type { Follower } from './followers.ts';

/**
 * The second negative control: the old default goes before the new one is there, as Istio's `tag set default` does it. Pods are stored plain meanwhile, and
 * it is seen.
 */
export async function checkWrongOrder(context: ScenarioContext, byDefault: Follower): Promise<void> {
  const { client } = context;
  const config = markedConfig('default', 'zero');
  const began = Date.now();
  await applyObject(client, { ...config, spec: { ...config.spec, paused: true } });
  await context.check('control: the old default is switched off before the new one is on: plain pods are seen', () =>
    byDefault.losses.report(began).lost.some(({ kind }) => kind === 'plain'),
  );
  await applyObject(client, { ...config, spec: { ...config.spec, paused: false } });
  await byDefault.waitFor('default');
  const back = Date.now();
  await waitFor('pods to be created as before', () => byDefault.makersSince(back).join() === 'default');
  await byDefault.losses.checkNone('it is on again', { askedSince: back });
}
