import type { ApiClient } from '../../kube/api-client.ts';
import type { Clock, Random } from '../../kube/ports.ts';
import type { OperatorMetrics } from '../../operator/ports.ts';
import type { Logger } from '../logger.ts';

/** What the parts of an operator process share. */
export interface PartContext {
  readonly client: ApiClient;
  readonly namespace: string;
  /** Names this process among candidates and replicas. */
  readonly identity: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: OperatorMetrics;
}
