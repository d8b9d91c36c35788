import type { KubernetesObject } from '../api/kubernetes.ts';
import { labelNames } from '../api/labels.ts';
import * as names from '../api/names.ts';
import type { RevisionTag } from '../api/revision-tag.ts';
import { excludedNamespaces } from './excluded-namespaces.ts';
import type { ManifestContext } from './manifest-context.ts';
import { podWebhooks } from './pod-webhooks.ts';
import { revisionLabels } from './revision-labels.ts';
import type { WebhookInput } from './webhook-configuration.ts';
import { tagSelectors } from './webhook-selectors.ts';

export interface TagWebhookInput extends WebhookInput {
  readonly tag: RevisionTag;
  /** Absent: the tag is at rest, and everybody gets the InjectorConfig's `hash`. Its stable side is that. */
  readonly rollout?: names.TagRollout | undefined;
}

/**
 * The MutatingWebhookConfiguration of a RevisionTag that leads to an InjectorConfig: the selectors are the tag's, everything else is the
 * InjectorConfig's, so moving a tag is one write of one object.
 */
export function tagWebhookConfiguration(input: TagWebhookInput, context: ManifestContext): KubernetesObject {
  const { tag, config, hash, caBundlePem, rollout } = input;
  const { name } = tag.metadata;
  const path =
    rollout === undefined ? names.tagInjectPath(name, config.metadata.name, hash) : names.tagRolloutPath(rollout);
  const selectors = tagSelectors(tag, config, excludedNamespaces(config, context.namespace));
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: {
      name: names.tagWebhookConfiguration(name),
      labels: { ...revisionLabels(config), [labelNames.tag]: name },
      ...(context.owner === undefined ? {} : { ownerReferences: [context.owner] }),
    },
    webhooks: podWebhooks({ config, caBundlePem, path, selectors }, context),
  };
}
