/** The worker of a standstill: notes when it was not run for longer than it had asked for, and when the API server took longer than it does on an idle machine. */
import { setTimeout as sleep } from 'node:timers/promises';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { administrator } from '../cluster.ts';
import { serveWorker, workerData } from '../worker/serve-worker.ts';

const { kubeconfig } = workerData as { kubeconfig: string };
/** Milliseconds between two looks, and what a look may take on an idle machine. */
const pause = 20;
const usual = { look: 15, answer: 40 };

const stills: { from: number; to: number }[] = [];
/** Since when something is waited for, and when that would have come on an idle machine. */
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

/** Reads a Namespace, which goes to etcd and back. One that is refused or broken off, since the API server was ended, is no standstill of it. */
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
