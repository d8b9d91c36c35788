import type { OperatorProcess, OperatorRole } from '../operator-process.ts';
import type { Pod } from '../pod.ts';

export type ReplicaRole = Exclude<OperatorRole, 'all'>;

/** One process of the operator with the token of a pod of its own, whose name is its identity. */
export interface Replica {
  /** The pod's name: in Leases, in the User-Agent, in the audit log (`authentication.kubernetes.io/pod-name`), and of the balancer's backend. */
  name: string;
  /** What it is here; in a chart that runs everything in one process a `controller` is one that gets no traffic. */
  role: ReplicaRole;
  pod: Pod;
  operator: OperatorProcess;
}
