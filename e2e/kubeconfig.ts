/** `make kubeconfig`: prints the path of the standing cluster's kubeconfig; fails if none runs. */
import { standingCluster } from './harness/standing-cluster.ts';

const cluster = await standingCluster();
if (cluster?.kubeconfig === undefined) {
  console.error('no control plane is running: `make up` starts one');
  process.exit(1);
}
console.log(cluster.kubeconfig);
process.exit(0);
