import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configurationHash } from '../../api/injector-config/configuration-hash.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { labelNames, hashedConfigMapName } from '../../api/names.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { injectorConfig } from '../../api/testdata/injector-config.ts';
import { revisionTag } from '../../api/testdata/revision-tag.ts';
import { inject } from '../../inject/inject.ts';
import { loadInjector } from '../../inject/injector.ts';
import { admissionPod, withServerDefaults } from '../../inject/kubernetes/admission-pod.ts';
import { configurationFiles } from '../../manifests/configuration-files.ts';
import { context } from '../../manifests/testdata/manifest-context.ts';
import { webhookConfiguration } from '../../manifests/webhook-configuration.ts';
import { failure } from '../../kube/testdata/fake-api-server.ts';
import { type Fault, MemoryCluster } from '../../operator/testdata/memory-cluster.ts';
import { operatorLeases } from './operator-leases.ts';
import { runCommand, type Seen, type Surroundings } from './recording-terminal.ts';

/** A cluster in memory with revisions and tags as the operator writes them. */
export class RevisionCluster {
  readonly memory = new MemoryCluster();
  readonly #folder = mkdtempSync(join(tmpdir(), 'injector-revisions-'));

  get kubeconfig(): string {
    return join(this.#folder, 'kubeconfig');
  }

  async start(): Promise<void> {
    await this.memory.start();
    for (const lease of operatorLeases()) this.memory.put('leases', lease);
    writeFileSync(this.kubeconfig, this.memory.server.kubeConfig().exportConfig());
  }

  async stop(): Promise<void> {
    await this.memory.stop();
    rmSync(this.#folder, { recursive: true });
  }

  /** Runs `injector` against the cluster; without an answer, standard input is not a terminal. */
  injector(argv: readonly string[], answer?: string, surroundings?: Surroundings): Promise<Seen> {
    return runCommand([...argv, '--kubeconfig', this.kubeconfig], '', answer, surroundings);
  }

  /** The writes, without access reviews. */
  get changes(): string[] {
    return this.memory.writes.filter((write) => !write.includes('selfsubjectaccessreviews'));
  }

  /** Adds an InjectorConfig that is Ready and published; returns its hash. */
  addRevision(name: string, spec: Record<string, unknown> = {}): string {
    const sidecar = `spec:\n  containers:\n  - name: proxy\n    image: ${name}\n`;
    const config = injectorConfig(name, { injection: { templates: { sidecar } }, ...spec });
    const files = configurationFiles(config, {});
    const hash = configurationHash(files);
    this.memory.put('injectorconfigs', {
      ...config,
      status: {
        observedGeneration: 1,
        conditions: [ready('True', 'Serving')],
        config: { hash },
        certificate: { notAfter: '2027-01-01T00:00:00Z' },
      },
    });
    this.memory.put('configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: hashedConfigMapName(name, hash),
        namespace: context.namespace,
        labels: { [labelNames.configurationHash]: hash },
      },
      data: { ...files },
    });
    const webhook = webhookConfiguration({ config, hash, caBundlePem: 'ca' }, context);
    this.memory.put('mutatingwebhookconfigurations', webhook);
    return hash;
  }

  /** Makes the spec of an InjectorConfig broken; the last good configuration stays published. */
  breakSpec(name: string, message: string): void {
    this.memory.edit('injectorconfigs', name, undefined, (config) => {
      const conditions = ['TemplatesValid', 'Ready'].map((type) => {
        return { ...ready('False', 'ConfigurationInvalid'), type, message };
      });
      config.status = { ...(config.status as object), conditions };
    });
  }

  /** Adds a published tag. */
  addTag(name: string, injectorConfigName: string, spec: Record<string, unknown> = {}): void {
    const stored = this.memory.get('injectorconfigs', injectorConfigName);
    const config = parseInjectorConfig(stored);
    const hash = config.status?.config?.hash ?? '';
    const revision = config.spec.revision ?? injectorConfigName;
    const tag = revisionTag(name, { revision, ...spec });
    const conditions = [ready('True', 'Published')];
    const status = { observedGeneration: 1, stableRevision: revision, injectorConfig: injectorConfigName, hash, conditions };
    this.memory.put('revisiontags', { ...tag, status });
    const configuration = webhookConfiguration({ tag, config, hash, caBundlePem: 'ca' }, context);
    this.memory.put('mutatingwebhookconfigurations', configuration);
  }

  addNamespace(name: string, labels: Record<string, string> = {}): void {
    this.memory.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
  }

  /** Adds a pod of Deployment `app`; `injectedBy` is its configuration (`NAME.HASH8`), if any. */
  addPod(namespace: string, app: string, injectedBy?: string, more: Partial<KubernetesObject['metadata']> = {}): void {
    const count = this.memory.names('pods').length;
    const status = JSON.stringify({ revision: injectedBy?.split('.')[0] });
    const annotations =
      injectedBy === undefined ? {} : { 'sidecar.istio.io/status': status, 'sidecar-injector.io/config': injectedBy };
    this.memory.put('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `${app}-7d9-${count}`,
        generateName: `${app}-7d9-`,
        namespace,
        ...more,
        labels: { 'pod-template-hash': '7d9', ...more.labels },
        annotations: { ...annotations, ...more.annotations },
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${app}-7d9`, uid: app, controller: true }],
      },
      spec: { containers: [] },
    });
  }

  /** Adds pods of a Deployment as an InjectorConfig injects them. */
  addInjectedPods(by: string, namespace: string, app: string, count: number, labels: Record<string, string> = {}): void {
    const config = parseInjectorConfig(this.memory.get('injectorconfigs', by));
    const injector = loadInjector(configurationFiles(config, {}));
    for (let index = 0; index < count; index += 1) {
      this.addPod(namespace, app, undefined, { labels });
      const name = `${app}-7d9-${this.memory.names('pods').length - 1}`;
      this.memory.edit('pods', name, namespace, (pod) => {
        const created = { ...pod, spec: { containers: [{ name: 'app', image: 'app:1' }], dnsPolicy: 'Default' } };
        const result = inject(injector, { pod: admissionPod(created, namespace), namespace });
        if (result.outcome !== 'injected') throw new Error(`${by} does not inject ${name}`);
        Object.assign(pod, withServerDefaults(result.pod), { status: {} });
        const entry = `${by}.${config.status?.config?.hash ?? ''}`;
        pod.metadata.annotations = { ...pod.metadata.annotations, 'sidecar-injector.io/config': entry };
        pod.metadata.name = name;
      });
    }
  }
}

export function ready(status: 'True' | 'False', reason: string, message = ''): Record<string, unknown> {
  return { type: 'Ready', status, reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' };
}

/** Returns a fault that refuses a method on paths that contain a text. */
export function refusal(method: string, part: string, code: number, message = 'no', times = Infinity): Fault {
  const answer: Fault['answer'] = (response) => {
    failure(response, code, 'No', message);
  };
  return { matches: (each, path) => each === method && path.includes(part), answer, times };
}
