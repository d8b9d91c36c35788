import { relative } from 'node:path';
import type { Cluster } from '../harness/cluster.ts';

/** What to do with a demo that was left up. */
export function howToTryMore(cluster: Cluster): string {
  const directory = relative(process.cwd(), cluster.run.path);
  return `
It is up. Try more (kubectl or anything that reads a kubeconfig):
   export KUBECONFIG=${cluster.kubeconfig ?? ''}
   kubectl get injectorconfigs
   kubectl apply -f examples/istio-1.1-release.yaml                       # a second revision
   kubectl label namespace demo istio-injection- istio.io/rev=istio-1-1   # the namespace follows it
   kubectl rollout restart deployment sleep -n demo
   kubectl delete injectorconfig default                                  # running pods stay, new ones start plain
   tail -f ${directory}/operator-*.log                            # what the operator does
   make down                                                              # stop it all`;
}
