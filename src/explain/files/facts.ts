import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { namespaceNameLabel } from '../../api/kubernetes/system-namespaces.ts';
import type { Creator, PodCreation } from '../pod-creation.ts';
import { admissionPod } from '../../inject/kubernetes/admission-pod.ts';
import type { ExplanationInputs } from '../explain-creation.ts';
import { podWebhooks, type WebhookTarget } from '../pod-webhook.ts';
import type { CreatedPod } from './created-pod.ts';
import { loadInjector, type Injector } from '../../inject/injector.ts';
import { configurationKey } from '../../routing/route.ts';
import { getsCanary, rankOf, workloadOfPod } from '../../routing/workload-key.ts';

/** The files of a configuration, or why they are unavailable. */
export type FoundFiles = ConfigurationFiles | { readonly unavailable: string };

/** The inputs of an explanation, read once from a cluster or from files. */
export interface FileFacts {
  /** All MutatingWebhookConfigurations, including those of other products. */
  readonly configurations: readonly KubernetesObject[];
  readonly namespaces: ReadonlyMap<string, KubernetesObject>;
  readonly filesOf: (target: WebhookTarget) => FoundFiles;
  readonly injectorConfigs: readonly InjectorConfig[];
  readonly revisionTags: readonly RevisionTag[];
  /** Remarks for the user. */
  readonly notes: readonly string[];
}

/** Converts facts for the explain engine. Each configuration is loaded once, on first use. */
export function surroundingsOf({
  configurations,
  filesOf,
}: Pick<FileFacts, 'configurations' | 'filesOf'>): ExplanationInputs {
  const loaded = new Map<string, Injector | { unavailable: string }>();
  return {
    webhooks: podWebhooks(configurations),
    getsCanary: ({ tag, threshold }, pod, namespace) =>
      getsCanary(rankOf(tag, workloadOfPod(pod, namespace)), threshold),
    injectorOf: (target) => {
      const key = configurationKey(target);
      const injector = loaded.get(key) ?? load(filesOf(target));
      loaded.set(key, injector);
      return injector;
    },
  };
}

export function load(files: FoundFiles): Injector | { unavailable: string } {
  if ('unavailable' in files) return files;
  try {
    return loadInjector(files);
  } catch (error) {
    return {
      unavailable: `its configuration cannot be loaded: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

/** Returns the creation of a pod in a namespace. An unknown namespace has only the name label. */
export function creationOf(
  { pod, namespace }: CreatedPod,
  namespaces: FileFacts['namespaces'],
  creator?: Creator,
): PodCreation {
  const { labels = {}, annotations = {} } = namespaces.get(namespace)?.metadata ?? {};
  return {
    pod: admissionPod(pod, namespace),
    namespace: { name: namespace, labels: { ...labels, [namespaceNameLabel]: namespace }, annotations },
    ...(creator && { creator }),
  };
}
