import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../../api/kubernetes/kubernetes.ts';
import { RevisionFixture, type Webhook } from '../../testdata/revision-fixture.ts';

/** Returns a RevisionTag as stored by the API server, without the defaults that the parser adds. */
export function revisionTag(name: string, revision: string, spec: Record<string, unknown> = {}): KubernetesObject {
  return {
    apiVersion: 'sidecar-injector.io/v1alpha1',
    kind: 'RevisionTag',
    metadata: { name, generation: 1 },
    spec: { revision, ...spec },
  };
}

/** An operator on an in-memory cluster with tags. Passes run only when the test calls them. */
export class TagFixture extends RevisionFixture {
  async tag(name: string, revision: string, spec: Record<string, unknown> = {}): Promise<number> {
    this.cluster.put('revisiontags', revisionTag(name, revision, spec));
    return this.reconcileTag(name);
  }

  /** Moves a tag and runs one pass over it. */
  async move(name: string, revision: string): Promise<number> {
    this.setRevision(name, revision);
    return this.reconcileTag(name);
  }

  /** Sets the revision of a tag without running a pass. */
  setRevision(name: string, revision: string): void {
    this.setSpec(name, { revision }, 'revisiontags');
  }

  async removeTag(name: string): Promise<number> {
    this.cluster.remove('revisiontags', name);
    return this.reconcileTag(name);
  }

  tagObject(name: string): KubernetesObject | undefined {
    return this.cluster.get('mutatingwebhookconfigurations', name === 'default' ? 'sidecar-injector-default' : `sidecar-injector-tag-${name}`);
  }

  tagWebhooks(name: string): Webhook[] {
    return (this.tagObject(name)?.webhooks ?? []) as Webhook[];
  }

  /** Returns the path of the tag's webhook; undefined if there is no webhook. */
  tagPath(name: string): string | undefined {
    return this.tagWebhooks(name)[0]?.clientConfig.service.path;
  }

  /** Returns the caBundle of each webhook of a tag, in base64. */
  tagBundles(name: string): string[] {
    return this.tagWebhooks(name).map(({ clientConfig }) => clientConfig.caBundle);
  }

  /** Installs revisions, and a tag `prod` that points to the first revision. */
  async installTagged(...revisions: [string, ...string[]]): Promise<void> {
    for (const revision of revisions) await this.install(revision);
    await this.tag('prod', revisions[0]);
  }

  tagCondition(name: string, type: string): string {
    return this.condition(name, type, 'revisiontags');
  }

  /** Asserts on a condition of a tag, as `Status/Reason: message`. */
  tagSays(name: string, type: string, expected: RegExp): void {
    assert.match(this.tagCondition(name, type), expected);
  }

  tagStatus(name: string): Record<string, unknown> {
    return this.statusOf(name, 'revisiontags');
  }
}
