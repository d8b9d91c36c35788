/** Records when this process or the API server was slower than on an idle machine. */
import { setTimeout as sleep } from 'node:timers/promises';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { administrator } from '../cluster.ts';
import { serveWorker, workerData } from '../worker/serve-worker.ts';

const { kubeconfig } = workerData as { kubeconfig: string };
/** The milliseconds between two measurements, and the usual delays on an idle machine. */
const pause = 20;
const usual = { look: 15, answer: 40 };

const stills: { from: number; to: number }[] = [];
/** Pending measurements, with the time at which an idle machine would have finished. */
const waiting = new Map<string, number>();

async function note(what: string, dueAt: number, happens: Promise<unknown>): Promise<void> {
  waiting.set(what, dueAt);
  await happens.catch(() => undefined);
  waiting.delete(what);
  if (Date.now() > dueAt) stills.push({ from: dueAt, to: Date.now() });
}

async function watchThisThread(): Promise<never> {
  for (;;) await note('thread', Date.now() + pause + usual.look, sleep(pause));
}

/** Measures reads of a Namespace from etcd. Refused or interrupted reads are not stalls. */
async function watchApiServer(): Promise<never> {
  const client = administrator(kubeconfig);
  for (;;) {
    const asked = Date.now();
    waiting.set('API server', asked + usual.answer);
    const answered = await client.get(resourceKind('v1', 'Namespace'), 'default', { timeoutMs: 10_000 }).then(
      () => true,
      () => false,
    );
    waiting.delete('API server');
    if (answered && Date.now() > asked + usual.answer) stills.push({ from: asked + usual.answer, to: Date.now() });
    await sleep(100);
  }
}

export type StandstillMethods = typeof methods;

const methods = {
  between(from: number, to: number): number {
    const all = [...stills, ...[...waiting.values()].map((dueAt) => ({ from: dueAt, to: Date.now() }))]
      .map((each) => ({ from: Math.max(each.from, from), to: Math.min(each.to, to) }))
      .filter((each) => each.to > each.from)
      .sort((one, other) => one.from - other.from);
    let sum = 0;
    let end = from;
    for (const each of all) {
      sum += Math.max(0, each.to - Math.max(each.from, end));
      end = Math.max(end, each.to);
    }
    return sum;
  },
};
serveWorker(methods);
void watchThisThread();
void watchApiServer();
