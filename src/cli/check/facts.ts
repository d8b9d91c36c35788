import type { OperatorHealth } from '../usage/operator-health.ts';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { namespaceNameLabel } from '../../api/kubernetes/system-namespaces.ts';
import type { Creator, PodCreation } from '../../explain/pod-creation.ts';
import { admissionPod } from '../../inject/kubernetes/admission-pod.ts';
import type { ExplanationInputs } from '../../explain/explain-creation.ts';
import { podWebhooks, type WebhookTarget } from '../../explain/pod-webhook.ts';
import { loadInjector, type Injector } from '../../inject/injector.ts';
import { configurationKey } from '../../routing/route.ts';
import { getsCanary, rankOf, workloadOfPod } from '../../routing/workload-key.ts';
import { messageOf } from '../files.ts';
import type { Subject } from './subject.ts';

/** The files of a configuration, or why they are unavailable. */
export type FoundFiles = ConfigurationFiles | { readonly unavailable: string };

/** The inputs of a check, read once from a cluster or from files. */
export interface Facts {
  /** All MutatingWebhookConfigurations, including those of other products. */
  readonly configurations: readonly KubernetesObject[];
  readonly namespaces: ReadonlyMap<string, KubernetesObject>;
  readonly filesOf: (target: WebhookTarget) => FoundFiles;
  readonly injectorConfigs: readonly InjectorConfig[];
  readonly revisionTags: readonly RevisionTag[];
  /** The health of the operator; absent if the facts come from files. */
  readonly health?: OperatorHealth;
  /** Remarks for the user. */
  readonly notes: readonly string[];
}

/** Converts facts for the explain engine. Each configuration is loaded once, on first use. */
export function surroundingsOf({
  configurations,
  filesOf,
}: Pick<Facts, 'configurations' | 'filesOf'>): ExplanationInputs {
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
    return { unavailable: `its configuration cannot be loaded: ${messageOf(error)}` };
  }
}

/** Returns the creation of a subject's pod. An unknown namespace has only the name label. */
export function creationOf(subject: Subject, namespaces: Facts['namespaces'], creator?: Creator): PodCreation {
  const { labels = {}, annotations = {} } = namespaces.get(subject.namespace)?.metadata ?? {};
  return {
    pod: admissionPod(subject.pod, subject.namespace),
    namespace: { name: subject.namespace, labels: { ...labels, [namespaceNameLabel]: subject.namespace }, annotations },
    ...(creator && { creator }),
  };
}
