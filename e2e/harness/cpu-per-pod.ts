import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSecondsOf } from '../../scripts/test/account.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { dryRun } from './admissions.ts';
import type { ManagedProcess } from './managed-process.ts';
import { barePod } from './workloads.ts';

/** How long the processes are watched without pods, in milliseconds. */
const idleMs = 4000;
const pods = { warm: 100, measured: 400, atOnce: 8 };

/** Returns the CPU time of processes for a new pod in milliseconds, without what they use idle. */
export async function cpuPerPod(
  client: ApiClient,
  namespace: string,
  processes: readonly ManagedProcess[],
): Promise<number> {
  const used = (): number =>
    processes.reduce((sum, { pid }) => sum + 1000 * (cpuSecondsOf(pid ?? 0)?.own ?? Number.NaN), 0);
  const measure = async (act: () => Promise<unknown>) => {
    const [time, before] = [Date.now(), used()];
    await act();
    return { milliseconds: Date.now() - time, cpu: used() - before };
  };
  const create = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += pods.atOnce) {
      const names = Array.from({ length: pods.atOnce }, (_, each) => `pod-${count}-${index + each}`);
      await Promise.all(names.map((name) => dryRun(client, barePod(namespace, name))));
    }
  };
  await create(pods.warm);
  const idle = await measure(() => sleep(idleMs));
  const busy = await measure(() => create(pods.measured));
  const own = busy.cpu - (idle.cpu * busy.milliseconds) / idle.milliseconds;
  return Math.round((100 * own) / pods.measured) / 100;
}
