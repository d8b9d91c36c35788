/** `make down`: stops the standing cluster and all its operators, and removes its directory. */
import { stopStandingCluster } from './harness/standing-cluster.ts';

const ended = stopStandingCluster();
console.log(ended.length === 0 ? 'nothing was running' : `stopped ${ended.join(', ')}`);
