import type { KubernetesObject } from '../../../api/kubernetes/kubernetes.ts';
import { RevisionFixture, type Webhook } from '../../testdata/revision-fixture.ts';

/** A RevisionTag as the API server stores it, defaults left to the parser. */
export function revisionTag(name: string, revision: string, spec: Record<string, unknown> = {}): KubernetesObject {
  return {
    apiVersion: 'sidecar-injector.io/v1alpha1',
    kind: 'RevisionTag',
    metadata: { name, generation: 1 },
    spec: { revision, ...spec },
  };
}

/** An operator on a cluster in memory, with tags. Nothing is called by events: a test runs each pass itself. */
export class TagFixture extends RevisionFixture {
  async tag(name: string, revision: string, spec: Record<string, unknown> = {}): Promise<number> {
    this.cluster.put('revisiontags', revisionTag(name, revision, spec));
    return this.reconcileTag(name);
  }

  /** Moves a tag and runs one pass over it. */
  async move(name: string, revision: string): Promise<number> {
    this.direct(name, revision);
    return this.reconcileTag(name);
  }

  /** Moves a tag, and leaves the pass to others. */
  direct(name: string, revision: string): void {
    this.cluster.edit('revisiontags', name, undefined, (object) => {
      object.metadata.generation = (object.metadata.generation ?? 0) + 1;
      object.spec = { ...(object.spec as object), revision };
    });
  }

  async removeTag(name: string): Promise<number> {
    this.cluster.remove('revisiontags', name);
    return this.reconcileTag(name);
  }

  tagObject(name: string): KubernetesObject | undefined {
    return this.cluster.get('mutatingwebhookconfigurations', name === 'default' ? 'sidecar-injector-default' : `sidecar-injector-tag-${name}`);
  }

  /** Where a tag leads; undefined without a webhook. */
  tagPath(name: string): string | undefined {
    const [webhook] = (this.tagObject(name)?.webhooks ?? []) as { clientConfig: { service: { path: string } } }[];
    return webhook?.clientConfig.service.path;
  }

  /** What the webhooks of a tag trust. */
  tagBundles(name: string): string[] {
    return ((this.tagObject(name)?.webhooks ?? []) as Webhook[]).map(({ clientConfig }) => clientConfig.caBundle);
  }

  tagCondition(name: string, type: string): string {
    return this.condition(name, type, 'revisiontags');
  }

  tagStatus(name: string): Record<string, unknown> {
    return (this.cluster.get('revisiontags', name)?.status ?? {}) as Record<string, unknown>;
  }
}
