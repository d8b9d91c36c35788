import { InjectionFailure } from '../injection-failure.ts';
import type { ProxyConfigResource } from '../injection-request.ts';
import type { Injector } from '../injector.ts';
import { annotationOf, noStrings, type Pod } from '../pod/pod.ts';
import { parseYaml } from '../yaml/parse-yaml.ts';
import type { Message } from './decode-message.ts';
import { effectiveProxyConfig } from './effective-proxy-config.ts';
import { annotationProxyConfig, applyProxyConfig, proxyConfigAnnotation } from './proxy-config.ts';

/** The mesh and proxy configuration of a pod. The webhook parses the annotation on demand. */
export interface PodProxyConfigs {
  readonly meshConfig: Message;
  readonly proxyConfig: Message;
  readonly holdApplication: boolean;
}

/**
 * Returns a pod's mesh and proxy configuration. The webhook merges layers and keeps the mesh
 * config; the command line also applies the annotation to the mesh config, where templates see it.
 * @throws InjectionFailure on the command line, if the annotation is unreadable
 */
export function proxyConfigsFor(
  injector: Injector,
  pod: Pod,
  resources: readonly ProxyConfigResource[] | undefined,
): PodProxyConfigs {
  return injector.semantics === 'KubeInject'
    ? commandLineConfigs(injector, pod)
    : new WebhookConfigs(injector, pod, resources);
}

function commandLineConfigs({ meshConfig, values }: Injector, pod: Pod): PodProxyConfigs {
  const annotation = annotationOf(pod, proxyConfigAnnotation);
  const defaultConfig = meshConfig.defaultConfig as Message;
  const proxyConfig = annotation === undefined ? defaultConfig : applyAnnotation(defaultConfig, annotation);
  return {
    meshConfig: proxyConfig === defaultConfig ? meshConfig : { ...meshConfig, defaultConfig: proxyConfig },
    proxyConfig,
    holdApplication: values.holdApplication || proxyConfig.holdApplicationUntilProxyStarts === true,
  };
}

/** A class, because V8 would create a hidden class per object literal with getters. */
class WebhookConfigs implements PodProxyConfigs {
  readonly #injector: Injector;
  readonly #pod: Pod;
  readonly #resources: readonly ProxyConfigResource[] | undefined;
  #read: { readonly message: Message | undefined } | undefined;
  #effective: Message | undefined;

  constructor(injector: Injector, pod: Pod, resources: readonly ProxyConfigResource[] | undefined) {
    this.#injector = injector;
    this.#pod = pod;
    this.#resources = resources;
  }

  get meshConfig(): Message {
    return this.#injector.meshConfig;
  }

  get proxyConfig(): Message {
    const { namespace = '', labels = noStrings } = this.#pod.metadata;
    return (this.#effective ??= effectiveProxyConfig(
      this.#injector.proxyConfigLayers,
      { namespace, labels },
      this.#annotationConfig(),
      this.#resources,
    ));
  }

  /** Resources do not affect the container order. */
  get holdApplication(): boolean {
    const { holdApplicationUntilProxyStarts } = this.meshConfig.defaultConfig as Message;
    const hold = this.#annotationConfig()?.holdApplicationUntilProxyStarts ?? holdApplicationUntilProxyStarts;
    return this.#injector.values.holdApplication || hold === true;
  }

  /** Returns the ProxyConfig in the pod's annotation. */
  #annotationConfig(): Message | undefined {
    if (this.#read === undefined) {
      const annotation = annotationOf(this.#pod, proxyConfigAnnotation);
      this.#read = { message: annotation === undefined ? undefined : annotationProxyConfig(annotation) };
    }
    return this.#read.message;
  }
}

function applyAnnotation(base: Message, annotation: string): Message {
  try {
    return applyProxyConfig(base, parseYaml(annotation));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new InjectionFailure('InvalidProxyConfig', `could not parse proxy config: ${reason}`, { cause: error });
  }
}
