import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { tagWebhookConfiguration } from '../../api/names.ts';
import { MemoryCluster } from '../../operator/testdata/memory-cluster.ts';
import { injectorConfig } from '../../operator/testdata/operator-fixture.ts';
import { formatRoute } from '../../routing/route.ts';
import { disableCommand } from '../commands/disable.ts';
import { enableCommand } from '../commands/enable.ts';
import { releaseCommand } from '../commands/release.ts';
import { operatorLeases } from './operator-leases.ts';
import { recordingTerminal } from './recording-terminal.ts';

const hash = '0123abcd';

/** A cluster in memory with injectors and without an operator, for `disable` and `enable`. */
export class SwitchCluster extends MemoryCluster {
  /** What the last command printed on standard error. */
  errors = '';

  /** Adds injectors `blue` and `second` (revision green), their webhooks and an owner. */
  install(): void {
    this.put('injectorconfigs', injectorConfig('blue'));
    this.put('injectorconfigs', injectorConfig('second', { revision: 'green' }));
    this.#webhook('sidecar-injector-blue', { 'sidecar-injector.io/revision': 'blue' });
    this.#webhook('sidecar-injector-second', { 'sidecar-injector.io/revision': 'green' });
    this.#webhook('injector-operator', { 'app.kubernetes.io/managed-by': 'Helm' }, null);
    for (const lease of operatorLeases()) this.put('leases', lease);
    this.writes.length = 0;
  }

  /** Adds the webhook of a tag for InjectorConfig `name` of revision `revision`. */
  tag(tag: string, name: string, revision: string): void {
    const path = formatRoute({ tag, stable: { injectorConfig: name, hash } });
    this.#tagWebhook(tag, revision, { service: { path } });
  }

  /** Adds the webhook of a tag in a rollout from `stable` to `canary`, with a Service or a url. */
  rollout(tag: string, stable: string, canary: string, way: { revision: string; shadow?: boolean; url?: string }): void {
    const sides = { stable: { injectorConfig: stable, hash }, canary: { injectorConfig: canary, hash } };
    const path = formatRoute({ tag, ...sides, threshold: '4000000000000000', shadow: way.shadow === true });
    this.#tagWebhook(tag, way.revision, way.url === undefined ? { service: { path } } : { url: way.url + path });
  }

  /** Runs `injector disable` or `enable`; returns its lines and exit code, or rejects. */
  async run(...argv: string[]): Promise<{ out: string[]; code: number }> {
    const { terminal, seen } = recordingTerminal();
    const kubeconfig = join(mkdtempSync(join(tmpdir(), 'injector-switch-')), 'kubeconfig');
    writeFileSync(kubeconfig, this.server.kubeConfig().exportConfig());
    const [name, ...flags] = argv;
    const commands: Readonly<Record<string, typeof disableCommand>> = { enable: enableCommand, release: releaseCommand };
    await (commands[name ?? ''] ?? disableCommand)(terminal)
      .exitOverride()
      .configureOutput({ writeErr: () => undefined })
      .parseAsync([...flags, '--kubeconfig', kubeconfig], { from: 'user' })
      .finally(() => {
        rmSync(dirname(kubeconfig), { recursive: true });
      });
    const { out, errors, code } = seen();
    this.errors = errors;
    return { out: out.trimEnd().split('\n'), code };
  }

  /** Returns `spec.paused` of an InjectorConfig. */
  paused(name: string): unknown {
    return (this.get('injectorconfigs', name)?.spec as { paused?: boolean } | undefined)?.paused;
  }

  /** The writes, without access reviews. */
  get changes(): string[] {
    return this.writes.filter((write) => !write.includes('selfsubjectaccessreviews'));
  }

  get webhooks(): string[] {
    return this.names('mutatingwebhookconfigurations');
  }

  #tagWebhook(tag: string, revision: string, clientConfig: object): void {
    const labels = { 'sidecar-injector.io/revision': revision, 'sidecar-injector.io/tag': tag };
    this.#webhook(tagWebhookConfiguration(tag), labels, { clientConfig });
  }

  #webhook(name: string, labels: Record<string, string>, fields: object | null = {}): void {
    const webhook: KubernetesObject = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name, labels: { 'app.kubernetes.io/managed-by': 'sidecar-injector', ...labels } },
      webhooks: fields === null ? [] : [{ name: 'rev.object.sidecar-injector.io', ...fields }],
    };
    this.put('mutatingwebhookconfigurations', webhook);
  }
}
