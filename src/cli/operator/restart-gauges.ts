import { Counter, Gauge, type Registry } from 'prom-client';
import type { RestartFigures } from '../../operator/ports.ts';

/** What can be drawn of the restarts that tags ask for. Labels are names of tags, phases and states. */
export class RestartGauges {
  readonly #restarts;
  /** By tag. */
  readonly #figures = new Map<string, RestartFigures>();

  constructor(registry: Registry) {
    const registers = [registry];
    const figures = this.#figures;
    this.#restarts = new Counter({
      name: 'injector_restarts_total',
      help: 'Workloads that were restarted for a tag, since their pods were stale. Of the leader.',
      labelNames: ['tag'],
      registers,
    });
    new Gauge({
      name: 'injector_restart_phase',
      help: '1 for the phase in which the restarts for a tag are. Of the leader.',
      labelNames: ['tag', 'phase'],
      registers,
      collect() {
        this.reset();
        for (const [tag, { phase }] of figures) this.set({ tag, phase }, 1);
      },
    });
    new Gauge({
      name: 'injector_restart_workloads',
      help: 'Workloads that follow a tag that asks for restarts, by what is done about them: stale, restarting, waiting (of these failing: it cannot be written), untouched. Of the leader.',
      labelNames: ['tag', 'state'],
      registers,
      collect() {
        this.reset();
        for (const [tag, { counts }] of figures) {
          for (const [state, workloads] of Object.entries({ ...counts })) this.set({ tag, state }, workloads);
        }
      },
    });
  }

  restarted(tag: string, workloads: number): void {
    this.#restarts.inc({ tag }, workloads);
  }

  set(tag: string, figures: RestartFigures | undefined): void {
    if (figures === undefined) this.#figures.delete(tag);
    else this.#figures.set(tag, figures);
  }

  /** Another process leads, and tells. */
  clear(): void {
    this.#figures.clear();
  }
}
