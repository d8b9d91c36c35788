/** `make down`: ends the standing cluster and every operator that runs on it, and removes its directory. */
import { stopStandingCluster } from './harness/standing-cluster.ts';

const ended = stopStandingCluster();
console.log(ended.length === 0 ? 'nothing was running' : `stopped ${ended.join(', ')}`);
