import { compareStrings } from '../../template/go-string.ts';
import { findContainer, replaceContainer, type Pod } from '../pod/pod.ts';
import type { Environment } from '../pod/path-environment.ts';
import { proxyContainer } from '../pod/proxy-container.ts';
import { without } from '../pod/without.ts';

/** Gives the proxy the environment of the webhook's path and the cluster: in place of the template's variables of these names, sorted, at the end. */
export function setClusterEnvironment(pod: Pod, environment: Environment): Pod {
  const proxy = findContainer(pod, proxyContainer);
  if (proxy === undefined || environment.size === 0) return pod;
  const names = [...environment.keys()].sort(compareStrings);
  const env = [
    ...(proxy.env ?? []).filter(({ name }) => !environment.has(name)),
    ...names.map((name) => variable(name, environment.get(name) ?? '')),
  ];
  return replaceContainer(pod, proxy, env.length === 0 ? without(proxy, 'env') : { ...proxy, env });
}

/** An environment variable as Go encodes it: an empty value is left out. */
export function variable(name: string, value: string): { name: string; value?: string } {
  return value === '' ? { name } : { name, value };
}
