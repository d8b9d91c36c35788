import type { FileFacts } from '../../explain/files/facts.ts';
import type { OperatorHealth } from '../usage/operator-health.ts';

/** The inputs of a check, read once from a cluster or from files. */
export interface Facts extends FileFacts {
  /** The health of the operator; absent if the facts come from files. */
  readonly health?: OperatorHealth;
}
