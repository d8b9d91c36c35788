import assert from 'node:assert/strict';
import { injectorConfig, OperatorFixture } from './operator-fixture.ts';

/** What the tests look at of a webhook. */
export interface Webhook {
  name: string;
  clientConfig: { caBundle: string; url?: string; service: { path: string } };
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

  /** Starts the operator with one InjectorConfig that is published; its hash. */
  async startInstalled(): Promise<string> {
    await this.start();
    await this.install();
    return this.hash('blue');
  }

  setTemplate(name: string, text: string): void {
    this.setSpec(name, { injection: { templates: { sidecar: text } } });
  }

  /** Edits some fields of a spec. */
  setSpec(name: string, fields: Record<string, unknown>): void {
    this.cluster.edit('injectorconfigs', name, undefined, (object) => {
      object.spec = { ...(object.spec as object), ...fields };
    });
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
