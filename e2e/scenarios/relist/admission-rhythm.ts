import { Agent, request } from 'node:https';
import { readFileSync } from 'node:fs';
import type { ReviewTarget } from '../../harness/post-review.ts';

/** One admission: when it was asked for, and how long the answer took. */
export interface TimedAdmission {
  /** Milliseconds since 1970. */
  startedAt: number;
  milliseconds: number;
  /** The most of these that the replica itself may have made it wait: those in which it ran, and in which neither side waited for a processor. */
  heldUp: number;
  /** Whether the pod was admitted with a patch. */
  injected: boolean;
}

/**
 * Asks a replica for admissions at a steady rate over kept connections, as an API server does, whether it keeps up or not: one that waits delays
 * no other.
 */
export class AdmissionRhythm {
  readonly admissions: TimedAdmission[] = [];
  readonly #agent: Agent;
  readonly #timer: NodeJS.Timeout;
  /** Of the replica. */
  readonly #pid: () => number | undefined;
  #underWay = 0;

  /** @param pid the replica's process */
  constructor(target: ReviewTarget, body: string, perSecond: number, pid: () => number | undefined) {
    this.#pid = pid;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 25 });
    this.#timer = setInterval(() => {
      this.#ask(target, body);
    }, 1000 / perSecond);
  }

  /** Those that were asked for within a time. */
  between(from: number, to: number): TimedAdmission[] {
    return this.admissions.filter(({ startedAt }) => startedAt >= from && startedAt <= to);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    for (let turn = 0; turn < 100 && this.#underWay > 0; turn++)
      await new Promise((resolve) => setTimeout(resolve, 20));
    this.#agent.destroy();
  }

  /** How long the replica has run, and both sides have waited for a processor. */
  #times(): { run: number; waited: number } | undefined {
    const [replica, own] = [schedulerTimes(this.#pid()), schedulerTimes(process.pid)];
    return replica && own && { run: replica.run, waited: replica.waited + own.waited };
  }

  #ask({ port, path, serverName, authority }: ReviewTarget, body: string): void {
    const [startedAt, started] = [Date.now(), performance.now()];
    this.#underWay++;
    const before = this.#times();
    const done = (injected: boolean): void => {
      this.#underWay--;
      const milliseconds = performance.now() - started;
      const after = this.#times();
      const heldUp =
        before === undefined || after === undefined
          ? milliseconds
          : Math.min(after.run - before.run, milliseconds - (after.waited - before.waited));
      this.admissions.push({ startedAt, milliseconds, heldUp, injected });
    };
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const outgoing = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method: 'POST',
        servername: serverName,
        ca: authority,
        agent: this.#agent,
        headers,
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () => {
          done(text.includes('"patch"'));
        });
      },
    );
    outgoing.on('error', () => {
      done(false);
    });
    outgoing.end(body);
  }
}

/** The value below which so large a share of the values lies. */
export function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)] ?? Number.NaN;
}

/** What a process's main thread has had of the processors since its start, in milliseconds. */
export interface SchedulerTimes {
  run: number;
  /** It could have run, and other threads were. */
  waited: number;
}

/** Undefined where the system does not tell (Linux: https://docs.kernel.org/scheduler/sched-stats.html, /proc/PID/schedstat), and of a process that is not there. */
export function schedulerTimes(pid: number | undefined): SchedulerTimes | undefined {
  try {
    const [run, waited] = readFileSync(`/proc/${pid ?? 0}/task/${pid ?? 0}/schedstat`, 'utf8').split(' ');
    return { run: Number(run) / 1e6, waited: Number(waited) / 1e6 };
  } catch {
    return undefined;
  }
}
