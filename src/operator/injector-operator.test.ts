import assert from 'node:assert/strict';
import type { ResourceEvent } from '@dot-i/k8s-operator';
import { ServingCertificates } from '../certs/serving-certificates.ts';
import { systemClock } from '../kube/clock.ts';
import { failure } from '../kube/testdata/fake-api-server.ts';
import { capturingLogger } from '../kube/testdata/capturing-logger.ts';
import { InjectorOperator } from './injector-operator.ts';
import type { OperatorMetrics } from './ports.ts';
import { ReplicaLeases } from './replica-leases.ts';
import { ReplicaReporter } from './replica-reporter.ts';
import { Replica } from './replica.ts';
import type { UsageFigures } from './usage/usage-figures.ts';
import { MemoryCluster } from './testdata/memory-cluster.ts';
import { context, injectorConfig, loadAtOnce, MemoryRegistry, nextKeyPair } from './testdata/operator-fixture.ts';

/** Uses what the library gives to subclasses. */
class Subclass extends InjectorOperator {
  uri(...target: [group: string, version: string, plural: string, namespace?: string]): string {
    return this.getCustomResourceApiUri(...target);
  }

  watchPods(onEvent: (event: ResourceEvent) => Promise<void>): Promise<void> {
    return this.watchResource('', 'v1', 'pods', onEvent, 'n');
  }

  server(): string | undefined {
    return this.kubeConfig.getCurrentCluster()?.server;
  }
}

/** The controller and a replica in one process, as `--role=all` has them, on real time. */
class Process {
  readonly logger = capturingLogger();
  readonly reconciled: string[] = [];
  usage: () => UsageFigures | undefined = () => undefined;
  readonly registry = new MemoryRegistry();
  readonly operator: Subclass;
  readonly #replica: Replica;
  readonly #reporter: ReplicaReporter;
  readonly #reports: ReplicaLeases;

  constructor(
    cluster: MemoryCluster,
    identity: string,
    options: { owner?: string; followPods?: boolean; restartWorkloads?: boolean } = {},
  ) {
    const { client } = cluster;
    const shared = { client, clock: systemClock, random: Math.random, logger: this.logger };
    const place = { namespace: context.namespace, operatorClass: context.operatorClass };
    this.#replica = new Replica({
      ...shared,
      ...place,
      registry: this.registry,
      load: loadAtOnce,
      certificates: new ServingCertificates(),
    });
    this.#reporter = new ReplicaReporter({
      ...shared,
      ...place,
      identity,
      instance: 'test',
      serves: () => this.#replica.serves(),
    });
    this.#reports = new ReplicaLeases({ ...shared, ...place });
    const metrics: OperatorMetrics = {
      reconciled: (name, outcome) => this.reconciled.push(`${name} ${outcome}`),
      usageFrom: (read) => (this.usage = read),
    };
    this.operator = new Subclass({
      ...shared,
      kubeConfig: cluster.server.kubeConfig(),
      settings: { context, identity, ...options },
      reports: this.#reports,
      load: loadAtOnce,
      metrics,
      generateKeyPair: nextKeyPair,
    });
  }

  async start(): Promise<void> {
    this.#replica.subscribe(() => {
      this.#reporter.changed();
    });
    this.#replica.start();
    this.#reporter.start();
    this.#reports.start();
    await this.operator.start();
  }

  async stop(): Promise<void> {
    this.operator.stop();
    this.#replica.stop();
    this.#reports.stop();
    await Promise.all([this.operator.stopped(), this.#reporter.stop()]);
  }
}

const otherKeys = { injection: 'logs/on', revision: 'logs/rev', inject: 'logs/inject', status: 'logs/status' };

describe('InjectorOperator', () => {
  let cluster: MemoryCluster;
  let processes: Process[];
  beforeEach(async () => {
    cluster = new MemoryCluster();
    processes = [];
    await cluster.start();
  });
  afterEach(async () => {
    await Promise.all(processes.map((process) => process.stop()));
    await cluster.stop();
  });
  const launch = async (identity = 'one', options = {}): Promise<Process> => {
    const process = new Process(cluster, identity, options);
    processes.push(process);
    await process.start();
    return process;
  };
  const until = async (what: () => boolean): Promise<void> => {
    for (let turn = 0; turn < 5000 && !what(); turn += 1) await new Promise((resolve) => setTimeout(resolve, 1));
    assert.ok(what(), what.toString());
  };
  const isReady = (name: string): boolean => {
    const { conditions = [] } = (cluster.get('injectorconfigs', name)?.status ?? {}) as {
      conditions?: { type: string; status: string }[];
    };
    return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  };
  const webhook = (name: string) => cluster.get('mutatingwebhookconfigurations', `sidecar-injector-${name}`);

  it('makes what is applied ready, and keeps a validating webhook', async () => {
    const process = await launch();
    cluster.put('injectorconfigs', injectorConfig('blue'));
    await until(() => isReady('blue'));
    assert.equal(process.operator.synced, true);
    assert.equal(process.operator.leading, true);
    assert.equal(process.registry.injectors.size, 1);
    assert.ok(webhook('blue'));
    await until(
      () => cluster.get('validatingwebhookconfigurations', 'sidecar-injector-default-validator') !== undefined,
    );
    assert.ok(process.logger.lines.some(({ message }) => message.startsWith('no owner is given')));
  });

  it('tells of a pod that was not injected, in its namespace', async () => {
    await launch();
    cluster.put('injectorconfigs', injectorConfig('blue', { paused: true }));
    const labels = { 'istio.io/rev': 'blue' };
    cluster.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels } });
    await until(() => cluster.names('events').length > 0);
    const metadata = { name: 'web', namespace: 'shop', uid: 'u1', creationTimestamp: new Date().toISOString() };
    cluster.put('pods', { apiVersion: 'v1', kind: 'Pod', metadata, spec: {} });
    const told = () => cluster.names('events').flatMap((name) => cluster.get('events', name, 'shop') ?? []);
    await until(() => told().length > 0);
    const about = told().map(({ reason, regarding }) => [reason, (regarding as { uid: string }).uid]);
    assert.deepEqual(about, [['Paused', 'u1']]);
  });

  it('looks at stale workloads where it may restart them, and asks for none before', async () => {
    const isAsked = (): boolean => cluster.server.requests.some(({ path }) => path.startsWith('/apis/apps/'));
    await launch('one', { restartWorkloads: true });
    cluster.put('injectorconfigs', injectorConfig('blue'));
    await until(() => isReady('blue'));
    const labels = { 'istio.io/rev': 'prod' };
    cluster.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels } });
    const tag = { apiVersion: 'sidecar-injector.io/v1alpha1', kind: 'RevisionTag', metadata: { name: 'prod' } };
    cluster.put('revisiontags', { ...tag, spec: { revision: 'blue' } });
    await until(() => webhook('tag-prod') !== undefined);
    cluster.put('deployments', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'shop', generation: 1 },
      spec: { replicas: 1, template: { metadata: { labels: { app: 'web' } } } },
      status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1 },
    });
    const annotations = { 'sidecar-injector.io/config': 'blue.00000000', 'sidecar.istio.io/status': '{}' };
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-5d9c7bbbf4', uid: 'u1', controller: true };
    const podLabels = { 'pod-template-hash': '5d9c7bbbf4' };
    const metadata = { name: 'web-0', namespace: 'shop', annotations, labels: podLabels, ownerReferences: [owner] };
    cluster.put('pods', { apiVersion: 'v1', kind: 'Pod', metadata, spec: {} });
    assert.equal(isAsked(), false);
    cluster.edit('revisiontags', 'prod', undefined, (object) => {
      object.spec = { revision: 'blue', strategy: { restart: {} } };
    });
    const restarts = (): Record<string, unknown> | undefined =>
      (cluster.get('revisiontags', 'prod')?.status as { restarts?: Record<string, unknown> } | undefined)?.restarts;
    const waiting = (): { name: string; reason: string } | undefined => {
      const [first] = (restarts()?.waiting ?? []) as { name: string; reason: string }[];
      return first;
    };
    // For some seconds after it has begun to lead, too.
    await until(() => waiting() !== undefined);
    assert.deepEqual([waiting()?.name, waiting()?.reason], ['web', 'JustMoved']);
    cluster.edit('revisiontags', 'prod', undefined, (object) => {
      object.spec = { revision: 'blue' };
    });
    await until(() => restarts() === undefined);
  });

  it('asks for no pod and no namespace where it is told not to', async () => {
    const asked: string[] = [];
    const note = (_method: string, path: string): boolean => {
      asked.push(path.replace(/\?.*/, ''));
      return false;
    };
    cluster.faults.push({ matches: note, answer: () => undefined });
    await launch('one', { followPods: false });
    cluster.put('injectorconfigs', injectorConfig('blue'));
    await until(() => isReady('blue'));
    assert.ok(asked.includes('/api/v1/namespaces/injection/configmaps'));
    assert.deepEqual(
      asked.filter((path) => ['/api/v1/pods', '/api/v1/namespaces'].includes(path)),
      [],
    );
  });

  it('says who uses an InjectorConfig, and which pods are not as they would be now', async () => {
    const first = await launch();
    cluster.put('injectorconfigs', injectorConfig('blue'));
    await until(() => isReady('blue'));
    const usage = (): Record<string, unknown> =>
      (cluster.get('injectorconfigs', 'blue')?.status ?? {}) as Record<string, unknown>;
    const { hash } = usage().config as { hash: string };
    const labels = { 'istio.io/rev': 'blue' };
    cluster.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels } });
    for (const [name, by] of [
      ['a', hash],
      ['b', '00000000'],
    ] as const) {
      const annotations = { 'sidecar-injector.io/config': `blue.${by}`, 'sidecar.istio.io/status': '{}' };
      cluster.put('pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'shop', annotations } });
    }
    // Whoever leads next writes at once.
    await first.stop();
    await launch('two');
    await until(() => (usage().pods as { count: number } | undefined)?.count === 2);
    assert.deepEqual(usage().injected, { current: 1, stale: 1, missing: 0, total: 2 });
    assert.deepEqual(usage().namespaces, { count: 1, names: ['shop'] });
    assert.ok(isReady('blue'), 'all else is as it was');

    // Where nobody counts any more, nothing old is said.
    await processes.at(-1)?.stop();
    await launch('three', { followPods: false });
    await until(() => usage().injected === undefined && isReady('blue'));
    assert.equal(usage().pods, undefined);
  });

  it('reads pods again when a selector asks for a label that it has not kept', async () => {
    const process = await launch();
    cluster.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: {} } });
    for (const app of ['web', 'api']) {
      cluster.put('pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: app, namespace: 'shop', labels: { app } },
      });
    }
    cluster.put('injectorconfigs', injectorConfig('blue'));
    await until(() => isReady('blue'));
    const counted = (): unknown => process.usage()?.pods;
    assert.deepEqual(counted(), []);
    const webhook = { selection: 'Custom', namespaceSelector: {}, objectSelector: { matchLabels: { app: 'web' } } };
    cluster.put('injectorconfigs', injectorConfig('logs', { webhook: { ...webhook, keys: otherKeys } }));
    await until(() => isReady('logs'));
    await until(() => JSON.stringify(counted() ?? []) !== '[]');
    assert.deepEqual(counted(), [{ injectorConfig: 'logs', tag: '', counts: { current: 0, stale: 0, missing: 1 } }]);
    assert.equal(process.logger.lines.filter(({ message }) => message.startsWith('pods are read again')).length, 1);
  });

  it('repairs at once what somebody deletes', async () => {
    await launch();
    cluster.put('injectorconfigs', injectorConfig('blue'));
    await until(() => isReady('blue'));
    const collections: [string, string, string | undefined][] = [
      ['mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined],
      ['services', 'sidecar-injector-blue', 'injection'],
      ['validatingwebhookconfigurations', 'sidecar-injector-default-validator', undefined],
    ];
    for (const [plural, name, namespace] of collections) {
      await until(() => cluster.get(plural, name, namespace) !== undefined);
      const { uid } = cluster.get(plural, name, namespace)!.metadata;
      cluster.remove(plural, name, namespace);
      await until(() => {
        const again = cluster.get(plural, name, namespace);
        return again !== undefined && again.metadata.uid !== uid;
      });
    }
  });

  it('publishes when the owner appears', async () => {
    await launch('one', { owner: 'injector' });
    cluster.put('injectorconfigs', injectorConfig('blue'));
    await until(() => cluster.get('injectorconfigs', 'blue')?.status !== undefined);
    assert.equal(webhook('blue'), undefined);
    cluster.put('mutatingwebhookconfigurations', {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'injector' },
    });
    await until(() => isReady('blue'));
  });

  it('leaves nothing behind of what is deleted, also while nobody was running', async () => {
    const first = await launch();
    cluster.put('injectorconfigs', injectorConfig('blue'));
    await until(() => isReady('blue'));
    await first.stop();
    cluster.remove('injectorconfigs', 'blue');
    await launch('two');
    await until(() => cluster.names('injectorconfigs').length === 0);
    assert.equal(webhook('blue'), undefined);
    assert.ok(!cluster.names('secrets').some((name) => name.includes('blue')));
  });

  it('lets one of two work, and the other go on when the first stops', async () => {
    const one = await launch('one');
    await until(() => one.operator.leading);
    const two = await launch('two');
    cluster.put('injectorconfigs', injectorConfig('blue'));
    await until(() => isReady('blue'));
    assert.equal(two.operator.leading, false);
    assert.deepEqual(two.reconciled, []);
    await one.stop();
    await until(() => two.operator.leading && two.reconciled.includes('blue Success'));
  });

  it('does not stand for leader before it could do the work: where RevisionTags are not known yet, for instance', async () => {
    cluster.faults.push({
      matches: (_method, path) => path.endsWith('/revisiontags'),
      answer: (response) => {
        failure(response, 404, 'NotFound', 'the server could not find the requested resource');
      },
    });
    const process = await launch();
    await until(() =>
      process.logger.lines.some(({ message }) => /cannot follow revisiontags.*is its CustomResource/.test(message)),
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.ok(!cluster.names('leases').includes('injector-leader-default'));
    assert.equal(process.operator.synced, false);
    cluster.faults.length = 0;
    await until(() => process.operator.leading);
    assert.ok(cluster.names('leases').includes('injector-leader-default'));
  });

  it('goes on by itself after an outage of the API server', async () => {
    const process = await launch();
    cluster.put('injectorconfigs', injectorConfig('blue'));
    await until(() => isReady('blue'));
    const down = {
      matches: () => true,
      answer: (response: Parameters<typeof failure>[0]) => {
        failure(response, 503, 'ServiceUnavailable', 'the server is going down');
      },
    };
    cluster.faults.push(down);
    cluster.dropWatches();
    cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-blue');
    await until(() => process.logger.lines.some(({ message }) => message.startsWith('cannot follow')));
    cluster.faults.length = 0;
    await until(() => webhook('blue') !== undefined);
  });

  it('does not let one InjectorConfig that fails hold up another', async () => {
    const process = await launch();
    cluster.faults.push({
      matches: (method, path) => method !== 'GET' && path.includes('sidecar-injector-bad'),
      answer: (response) => {
        failure(response, 500, 'InternalError', 'no');
      },
    });
    cluster.put('injectorconfigs', injectorConfig('bad'));
    cluster.put('injectorconfigs', injectorConfig('good'));
    await until(() => isReady('good'));
    assert.ok(process.reconciled.includes('bad Error'));
    assert.ok(!isReady('bad'));
    cluster.faults.length = 0;
    await until(() => isReady('bad'));
  });

  it('keeps the promises of the library to its subclasses, on the cluster that was chosen', async () => {
    const { operator } = await launch();
    const { url } = cluster.server;
    assert.equal(operator.server(), url);
    assert.equal(operator.uri('', 'v1', 'pods', 'n'), `${url}/api/v1/namespaces/n/pods`);
    assert.equal(operator.uri('example.com', 'v1', 'widgets'), `${url}/apis/example.com/v1/widgets`);
    const seen: string[] = [];
    let failures = 2;
    await operator.watchPods(({ type, meta }) => {
      seen.push(`${type} ${meta.id} ${meta.namespace ?? ''}/${meta.name}`);
      failures -= 1;
      return failures < 0 ? Promise.resolve() : Promise.reject(new Error('not now'));
    });
    cluster.put('pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'n' } });
    await until(() => seen.length === 3);
    cluster.remove('pods', 'a', 'n');
    await until(() => seen.length === 4);
    assert.deepEqual(seen, [...Array<string>(3).fill('ADDED pods.v1 n/a'), 'DELETED pods.v1 n/a']);
  });

  it('does not care what the default kubeconfig is', async () => {
    const { KUBECONFIG: before } = process.env;
    process.env.KUBECONFIG = '/nowhere/kubeconfig';
    try {
      await launch();
      assert.equal(process.env.KUBECONFIG, '/nowhere/kubeconfig');
    } finally {
      if (before === undefined) delete process.env.KUBECONFIG;
      else process.env.KUBECONFIG = before;
    }
  });
});
