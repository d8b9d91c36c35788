import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { secretText } from '../certificates/secret-text.ts';
import { injectorConfig, OperatorFixture } from './operator-fixture.ts';

/** The fields of a webhook that tests use. */
export interface Webhook {
  name: string;
  clientConfig: { caBundle: string; url?: string; service: { path: string; namespace?: string } };
  namespaceSelector: { matchExpressions: { key: string; operator: string; values?: string[] }[] };
  failurePolicy: string;
}

/** An operator on an in-memory cluster, with common test steps. */
export class RevisionFixture extends OperatorFixture {
  /** Applies an InjectorConfig with one template and reconciles it once. */
  async install(name = 'blue', spec: Record<string, unknown> = {}): Promise<void> {
    this.cluster.put('injectorconfigs', injectorConfig(name, spec));
    await this.reconcile(name);
  }

  /** Installs `blue`; resolves with the published hash. */
  async installed(): Promise<string> {
    await this.install();
    return this.hash('blue');
  }

  /** Asserts on a condition, as `Status/Reason: message`. */
  says(name: string, type: string, expected: RegExp): void {
    assert.match(this.condition(name, type), expected);
  }

  setTemplate(name: string, text: string): void {
    this.setSpec(name, { injection: { templates: { sidecar: text } } });
  }

  /** Sets fields of a spec without running a pass. */
  setSpec(name: string, fields: Record<string, unknown>, plural = 'injectorconfigs'): void {
    this.cluster.edit(plural, name, undefined, (object) => {
      object.spec = { ...(object.spec as object), ...fields };
    });
  }

  /** Sets fields of an InjectorConfig's spec. Runs a pass over it, and then over a given tag. */
  edit(name: string, fields: Record<string, unknown>, tag?: string): Promise<number> {
    this.setSpec(name, fields);
    return this.reconcile(name, tag);
  }

  /** Sets an InjectorConfig's template. Runs a pass over it, and then over a given tag. */
  render(name: string, text: string, tag?: string): Promise<number> {
    this.setTemplate(name, text);
    return this.reconcile(name, tag);
  }

  /** Advances the clock, and runs a pass over an InjectorConfig. */
  async later(milliseconds: number, name: string): Promise<number> {
    await this.clock.advance(milliseconds);
    return this.reconcile(name);
  }

  /** Deletes an InjectorConfig. Runs a pass over it, and then over a given tag. */
  uninstall(name: string, tag?: string): Promise<number> {
    this.cluster.remove('injectorconfigs', name);
    return this.reconcile(name, tag);
  }

  annotate(name: string, annotations: Record<string, string>): void {
    this.cluster.edit('injectorconfigs', name, undefined, ({ metadata }) => {
      metadata.annotations = annotations;
    });
  }

  /** Edits each webhook of `sidecar-injector-<name>`, as another client does. */
  editWebhooks(name: string, change: (webhook: Webhook) => void, manager?: string): void {
    const edit = ({ webhooks }: KubernetesObject): void => (webhooks as Webhook[]).forEach(change);
    this.cluster.edit('mutatingwebhookconfigurations', `sidecar-injector-${name}`, undefined, edit, manager);
  }

  /** Clears the caBundles of `sidecar-injector-<name>`, as another client does. */
  emptyBundles(name: string, manager?: string): void {
    this.editWebhooks(name, ({ clientConfig }) => (clientConfig.caBundle = ''), manager);
  }

  /** Returns the decoded data of Secret `sidecar-injector-<name>`; empty if it does not exist. */
  secret(name: string): Record<string, string> {
    return secretText(this.cluster.get('secrets', `sidecar-injector-${name}`, 'injection') ?? ({} as KubernetesObject));
  }

  webhooks(name: string): Webhook[] {
    const configuration = this.cluster.get('mutatingwebhookconfigurations', `sidecar-injector-${name}`);
    return (configuration?.webhooks ?? []) as Webhook[];
  }

  /** Returns the published path; undefined if there is no webhook. */
  path(name: string): string | undefined {
    return this.webhooks(name)[0]?.clientConfig.service.path;
  }

  /** Returns the published hash. */
  hash(name: string): string {
    const hash = /^\/revisions\/[^/]+\/([0-9a-f]{8})\/inject$/.exec(this.path(name) ?? '')?.[1];
    return hash ?? assert.fail(`${name} is not published`);
  }

  /** Waits for an Event, because passes do not wait until their Events are written. */
  async recorded(event: RegExp): Promise<void> {
    await this.until(() => this.events().some((each) => event.test(each)));
  }
}
