import { Agent } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { postReview, type ReviewTarget } from './post-review.ts';
import { schedulerTimes } from './scheduler-times.ts';

const perSecond = 50;

interface TimedAdmission {
  /** The start time, in milliseconds since 1970. */
  startedAt: number;
  milliseconds: number;
  /** The part of the response time, in ms, that neither side spent waiting for a processor. */
  heldUp: number;
  injected: boolean;
}

/** Sends reviews at a constant rate over kept connections. Slow responses do not delay others. */
export class AdmissionRhythm {
  readonly admissions: TimedAdmission[] = [];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 25 });
  readonly #timer: NodeJS.Timeout;
  readonly #pid: () => number | undefined;
  #open = 0;

  constructor(target: ReviewTarget, body: string, pid: () => number | undefined) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.#send(target, body), 1000 / perSecond);
  }

  between(from: number, to: number): TimedAdmission[] {
    return this.admissions.filter(({ startedAt }) => startedAt >= from && startedAt <= to);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    for (let turn = 0; turn < 100 && this.#open > 0; turn++) await sleep(20);
    this.#agent.destroy();
  }

  /** Returns how long the replica ran, and how long both sides waited for a processor, in ms. */
  #times(): { ran: number; waited: number } | undefined {
    const [replica, own] = [schedulerTimes(this.#pid()), schedulerTimes(process.pid)];
    return replica && own && { ran: replica.ran, waited: replica.waited + own.waited };
  }

  #send(target: ReviewTarget, body: string): void {
    const [startedAt, started] = [Date.now(), performance.now()];
    this.#open++;
    const before = this.#times();
    const done = (injected: boolean): void => {
      this.#open--;
      const milliseconds = performance.now() - started;
      const after = this.#times();
      const heldUp =
        before === undefined || after === undefined
          ? milliseconds
          : Math.min(after.ran - before.ran, milliseconds - (after.waited - before.waited));
      this.admissions.push({ startedAt, milliseconds, heldUp, injected });
    };
    postReview(target, body, { agent: this.#agent }).then(
      ({ review }) => done(review?.response?.patch !== undefined),
      () => done(false),
    );
  }
}
