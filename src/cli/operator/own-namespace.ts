import { existsSync, readFileSync } from 'node:fs';
import type { KubeConfig } from '../../kube/kube-config.ts';
import { UsageError } from '../usage-error.ts';

/** Where Kubernetes mounts the namespace of a pod that has a ServiceAccount. */
const mountedNamespace = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

/**
 * The operator's own namespace: what the flag says, else the pod's, else that of the kubeconfig's context.
 * @throws UsageError when there is none; guessing would put Secrets where nobody expects them.
 */
export function ownNamespace(flag: string | undefined, kubeConfig: KubeConfig): string {
  const namespace =
    flag ??
    process.env['POD_NAMESPACE'] ??
    (existsSync(mountedNamespace) ? readFileSync(mountedNamespace, 'utf8').trim() : undefined) ??
    kubeConfig.getContextObject(kubeConfig.getCurrentContext())?.namespace;
  if (namespace === undefined || namespace === '') {
    throw new UsageError("--namespace: name the operator's own namespace; neither the pod nor the kubeconfig says it");
  }
  return namespace;
}
