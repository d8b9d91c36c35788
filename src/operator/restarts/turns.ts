import type { Clock } from '../../kube/ports.ts';
import type { Steps } from '../../rollout/restart-steps.ts';

/** For so long at a stretch, in milliseconds: admissions may wait for the same thread. */
const stretchMs = 4;

/** Goes through steps, and lets the event loop turn in between. */
export class Turns {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** What the steps have taken by themselves, since this was set to 0. Milliseconds. */
  spent = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  async run<Result>(steps: Steps<Result>): Promise<Result> {
    for (;;) {
      const began = this.#clock.monotonic();
      for (let now = began; now < began + stretchMs; now = this.#clock.monotonic()) {
        const step = steps.next();
        if (step.done !== true) continue;
        this.spent += this.#clock.monotonic() - began;
        return step.value;
      }
      this.spent += this.#clock.monotonic() - began;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
