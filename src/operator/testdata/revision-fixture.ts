import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { secretText } from '../certificates/secret-text.ts';
import { injectorConfig, OperatorFixture } from './operator-fixture.ts';

/** What the tests look at of a webhook. */
export interface Webhook {
  name: string;
  clientConfig: { caBundle: string; url?: string; service: { path: string; namespace?: string } };
  namespaceSelector: { matchExpressions: { key: string; operator: string; values?: string[] }[] };
  failurePolicy: string;
}

/** An operator on a cluster in memory, with the steps that its tests share. */
export class RevisionFixture extends OperatorFixture {
  /** Applies an InjectorConfig with one template and reconciles it once. */
  async install(name = 'blue', spec: Record<string, unknown> = {}): Promise<void> {
    this.cluster.put('injectorconfigs', injectorConfig(name, spec));
    await this.reconcile(name);
  }

  /** Installs `blue`; the hash that is published. */
  async installed(): Promise<string> {
    await this.install();
    return this.hash('blue');
  }

  /** Expects what a condition says, as `Status/Reason: message`. */
  says(name: string, type: string, expected: RegExp): void {
    assert.match(this.condition(name, type), expected);
  }

  setTemplate(name: string, text: string): void {
    this.setSpec(name, { injection: { templates: { sidecar: text } } });
  }

  /** Edits some fields of a spec. */
  setSpec(name: string, fields: Record<string, unknown>, plural = 'injectorconfigs'): void {
    this.cluster.edit(plural, name, undefined, (object) => {
      object.spec = { ...(object.spec as object), ...fields };
    });
  }

  /** Edits some fields of the spec of an InjectorConfig, and reconciles that and the tag once. */
  edit(name: string, fields: Record<string, unknown>, tag?: string): Promise<number> {
    this.setSpec(name, fields);
    return this.reconcile(name, tag);
  }

  /** Edits its template, and reconciles it and the tag once. */
  render(name: string, text: string, tag?: string): Promise<number> {
    this.setTemplate(name, text);
    return this.reconcile(name, tag);
  }

  /** Reconciles it once so many milliseconds later. */
  async later(milliseconds: number, name: string): Promise<number> {
    await this.clock.advance(milliseconds);
    return this.reconcile(name);
  }

  /** Deletes it, and reconciles it and the tag once. */
  uninstall(name: string, tag?: string): Promise<number> {
    this.cluster.remove('injectorconfigs', name);
    return this.reconcile(name, tag);
  }

  annotate(name: string, annotations: Record<string, string>): void {
    this.cluster.edit('injectorconfigs', name, undefined, ({ metadata }) => {
      metadata.annotations = annotations;
    });
  }

  /** Somebody else edits each webhook of `sidecar-injector-<name>`. */
  editWebhooks(name: string, change: (webhook: Webhook) => void): void {
    this.cluster.edit('mutatingwebhookconfigurations', `sidecar-injector-${name}`, undefined, ({ webhooks }) => {
      (webhooks as Webhook[]).forEach(change);
    });
  }

  /** Somebody else takes the caBundles out of them. */
  emptyBundles(name: string): void {
    this.editWebhooks(name, ({ clientConfig }) => (clientConfig.caBundle = ''));
  }

  /** The decoded data of the Secret `sidecar-injector-<name>`; empty when there is none. */
  secret(name: string): Record<string, string> {
    return secretText(this.cluster.get('secrets', `sidecar-injector-${name}`, 'injection') ?? ({} as KubernetesObject));
  }

  webhooks(name: string): Webhook[] {
    const configuration = this.cluster.get('mutatingwebhookconfigurations', `sidecar-injector-${name}`);
    return (configuration?.webhooks ?? []) as Webhook[];
  }

  /** The path that is published; undefined when none is. */
  path(name: string): string | undefined {
    return this.webhooks(name)[0]?.clientConfig.service.path;
  }

  /** The hash that is published. */
  hash(name: string): string {
    const hash = /^\/revisions\/[^/]+\/([0-9a-f]{8})\/inject$/.exec(this.path(name) ?? '')?.[1];
    return hash ?? assert.fail(`${name} is not published`);
  }

  /** Events are written without being waited for. */
  async recorded(event: RegExp): Promise<void> {
    await this.until(() => this.events().some((each) => event.test(each)));
  }
}
