import type { Replica } from '../../harness/replicas/replica.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';
import { waitFor } from '../../harness/wait-for.ts';

/** For how long at most we wait for the next restart. Milliseconds. */
const patience = 60_000;

/** How the leader is lost: killed before it knows of its last write, or suspended until another has taken its place. */
export type Loss = 'killed' | 'suspended';

/** Waits for the leader's next restart and loses it when the API server has done that, and its answer is still on the way. */
export async function loseLeader(replicas: Replicas, loss: Loss): Promise<void> {
  const { proxy } = replicas;
  if (proxy === undefined) throw new Error('this needs a proxy before the API server');
  const leader = await replicas.waitForLeader();
  const match = { client: leader.name, verbs: ['patch'], resources: ['deployments', 'statefulsets', 'daemonsets'] };
  const held = await proxy.holdWrite(match, 1);
  let reached = false;
  void held.reached.then(() => {
    reached = true;
  });
  await waitFor('the leader to restart another workload', () => reached, { timeout: patience, interval: 5 });
  if (loss === 'killed') {
    await replicas.kill(leader);
    await held.release();
    await leader.operator.restart();
    return;
  }
  leader.operator.process.freeze();
  await held.release();
  try {
    await waitForOther(replicas, leader);
  } finally {
    leader.operator.process.unfreeze();
  }
}

async function waitForOther(replicas: Replicas, leader: Replica): Promise<void> {
  const isOther = async (): Promise<boolean> => {
    const next = await replicas.leader();
    return next !== undefined && next !== leader;
  };
  await waitFor('another process to lead', isOther, { timeout: patience });
}
