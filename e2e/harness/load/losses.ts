import type { AuditLog } from '../audit-log.ts';
import { reportLoad, type LoadReport, type Stretch } from './load-report.ts';
import type { PodLoad } from './pod-load.ts';
import type { ScenarioContext } from '../scenario-context.ts';
import { waitFor } from '../wait-for.ts';

/** Creations without which a stretch says nothing. */
const enough = 20;

/** What a load has lost, stretch by stretch. */
export class Losses {
  readonly #context: ScenarioContext;
  readonly #load: PodLoad;
  readonly #audit: AuditLog;

  constructor(context: ScenarioContext, load: PodLoad, audit: AuditLog) {
    this.#context = context;
    this.#load = load;
    this.#audit = audit;
  }

  /** What was answered since a time (milliseconds since 1970), or in another stretch. */
  report(since: number | Stretch = {}): LoadReport {
    const stretch = typeof since === 'number' ? { answeredSince: since } : since;
    return reportLoad(this.#load, this.#audit.events(), stretch);
  }

  /**
   * Checks that nothing was lost that was answered since a time (milliseconds since 1970), or asked for since, after some pods were created since; returns how
   * many. By when it was asked for is right where a fault has ended: what met it may be answered late.
   */
  async checkNone(statement: string, since: number | Stretch): Promise<number> {
    await waitFor('pods to be created', () => this.report(since).created >= enough);
    const report = this.report(since);
    for (const { description } of report.lost.slice(0, 5)) this.#context.say(description);
    await this.#context.checkNow(`${statement}: 0 of ${report.created} lost`, () => report.lost.length === 0);
    return report.created;
  }
}
