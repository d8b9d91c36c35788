import type { ApiClient } from '../../kube/api-client.ts';
import { type OperatorHealth, readOperatorHealth } from '../usage/operator-health.ts';

/**
 * Reads the health of the operators beside the reports, because an old Lease is read again after
 * 6 s: while no operator is live, the reports should not wait for that.
 */
export class FollowedHealth {
  readonly #client: Pick<ApiClient, 'listAll'>;
  readonly #interval: number;
  #latest: OperatorHealth | undefined;
  #reading: Promise<OperatorHealth> | undefined;
  #readAt = -Infinity;

  /** @param interval how often to read, in milliseconds */
  constructor(client: Pick<ApiClient, 'listAll'>, interval: number) {
    this.#client = client;
    this.#interval = interval;
  }

  /** Returns the latest health. @throws ApiError if the last two reads have failed */
  async read(operatorClasses: readonly string[]): Promise<OperatorHealth> {
    if (this.#reading === undefined && performance.now() - this.#readAt >= this.#interval) {
      this.#reading = this.#read(operatorClasses);
      // Without a latest health, the caller gets the failure.
      this.#reading.catch(() => undefined);
    }
    return this.#latest ?? (await (this.#reading ?? this.#read(operatorClasses)));
  }

  async #read(operatorClasses: readonly string[]): Promise<OperatorHealth> {
    try {
      this.#latest = await readOperatorHealth(this.#client, operatorClasses);
      return this.#latest;
    } catch (error) {
      this.#latest = undefined;
      throw error;
    } finally {
      this.#readAt = performance.now();
      this.#reading = undefined;
    }
  }
}
