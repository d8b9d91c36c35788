import { InjectionFailure } from '../injection-failure.ts';
import type { ProxyConfigResource } from '../injection-request.ts';
import type { Injector } from '../injector.ts';
import { annotationOf, noStrings, type Pod } from '../pod/pod.ts';
import { parseYaml } from '../yaml/parse-yaml.ts';
import { annotationProxyConfig, proxyConfigAnnotation } from './annotation-proxy-config.ts';
import type { Message } from './decode-message.ts';
import { effectiveProxyConfig } from './effective-proxy-config.ts';
import { applyProxyConfig } from './proxy-config.ts';

/** The configurations that hold for one pod. */
export interface PodProxyConfigs {
  readonly meshConfig: Message;
  readonly proxyConfig: Message;
  readonly holdApplication: boolean;
}

/**
 * The mesh's and the proxy's configuration of a pod. The webhook leaves the mesh config alone and merges layers; the command line applies
 * the pod's annotation onto the mesh config, where templates see it too.
 * @throws InjectionFailure on the command line, when the annotation cannot be read
 */
export function proxyConfigsFor(
  injector: Injector,
  pod: Pod,
  resources: readonly ProxyConfigResource[] | undefined,
): PodProxyConfigs {
  const { meshConfig, values } = injector;
  const annotation = annotationOf(pod, proxyConfigAnnotation);
  const defaultConfig = meshConfig.defaultConfig as Message;
  if (injector.semantics === 'KubeInject') {
    const proxyConfig = annotation === undefined ? defaultConfig : applyAnnotation(defaultConfig, annotation);
    return {
      meshConfig: proxyConfig === defaultConfig ? meshConfig : { ...meshConfig, defaultConfig: proxyConfig },
      proxyConfig,
      holdApplication: values.holdApplication || proxyConfig.holdApplicationUntilProxyStarts === true,
    };
  }
  const message = annotation === undefined ? undefined : annotationProxyConfig(annotation);
  const facts = { namespace: pod.metadata.namespace ?? '', labels: pod.metadata.labels ?? noStrings };
  return {
    meshConfig,
    proxyConfig: effectiveProxyConfig(injector.proxyConfigLayers, facts, message, resources),
    // Resources have no say in the order of containers.
    holdApplication:
      values.holdApplication ||
      (message?.holdApplicationUntilProxyStarts ?? defaultConfig.holdApplicationUntilProxyStarts) === true,
  };
}

function applyAnnotation(base: Message, annotation: string): Message {
  try {
    return applyProxyConfig(base, parseYaml(annotation));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new InjectionFailure('InvalidProxyConfig', `could not parse proxy config: ${reason}`, { cause: error });
  }
}
