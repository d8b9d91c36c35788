import assert from 'node:assert/strict';
import { ServingCertificates } from '../../certs/serving-certificates.ts';
import { systemClock } from '../../kube/clock.ts';
import { capturingLogger } from '../../kube/testdata/capturing-logger.ts';
import { InjectorOperator } from '../controller/injector-operator.ts';
import { ReplicaLeases } from '../replicas/replica-leases.ts';
import { ReplicaReporter } from '../replicas/replica-reporter.ts';
import { Replica } from '../replicas/replica.ts';
import { MemoryCluster } from '../testdata/memory-cluster.ts';
import {
  context,
  injectorConfig,
  loadAtOnce,
  MemoryRegistry,
  nextKeyPair,
  template,
} from '../testdata/operator-fixture.ts';
import { revisionTag } from './testdata/tag-fixture.ts';

/** Controller and replica in one process, on real time: what wakes a tag. */
class Live {
  readonly cluster = new MemoryCluster();
  readonly #ends: (() => Promise<unknown>)[] = [];

  async start(): Promise<void> {
    const { client, server } = this.cluster;
    const logger = capturingLogger();
    const shared = { client, clock: systemClock, random: Math.random, logger };
    const { namespace, operatorClass } = context;
    const place = { namespace, operatorClass };
    const replica = new Replica({
      ...shared,
      ...place,
      registry: new MemoryRegistry(),
      load: loadAtOnce,
      certificates: new ServingCertificates(),
    });
    const reporter = new ReplicaReporter({
      ...shared,
      ...place,
      identity: 'one',
      instance: 'test',
      serves: () => replica.serves(),
    });
    const reports = new ReplicaLeases({ ...shared, ...place });
    const operator = new InjectorOperator({
      ...shared,
      kubeConfig: server.kubeConfig(),
      settings: { context, identity: 'one' },
      reports,
      load: loadAtOnce,
      generateKeyPair: nextKeyPair,
    });
    replica.subscribe(() => {
      reporter.changed();
    });
    replica.start();
    reporter.start();
    reports.start();
    await operator.start();
    this.#ends.push(async () => {
      operator.stop();
      replica.stop();
      reports.stop();
      await Promise.all([operator.stopped(), reporter.stop()]);
    });
  }

  /** Ends the processes; the cluster stays. */
  async halt(): Promise<void> {
    for (const end of this.#ends.splice(0)) await end();
  }

  path(name: string): string {
    const { webhooks = [] } = (this.cluster.get('mutatingwebhookconfigurations', name) ?? {}) as {
      webhooks?: { clientConfig: { service: { path: string } } }[];
    };
    return webhooks[0]?.clientConfig.service.path ?? 'none';
  }

  ready(plural: string, name: string): string {
    const { conditions = [] } = (this.cluster.get(plural, name)?.status ?? {}) as {
      conditions?: { type: string; status: string; reason: string }[];
    };
    const ready = conditions.find(({ type }) => type === 'Ready');
    return `${ready?.status}/${ready?.reason}`;
  }

  /** Until nothing is written any more: what comes afterwards is caused by what comes afterwards. */
  async quiet(): Promise<void> {
    for (let before = -1; before !== this.cluster.writes.length;) {
      before = this.cluster.writes.length;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }

  async until(what: string, holds: () => boolean): Promise<void> {
    for (let turn = 0; turn < 1000; turn += 1) {
      if (holds()) return;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.fail(`never: ${what}`);
  }
}

describe('tags in a running operator', () => {
  let live: Live;
  beforeEach(async () => {
    live = new Live();
    await live.cluster.start();
    await live.start();
  });
  afterEach(async () => {
    await live.halt();
    await live.cluster.stop();
  });
  const leads = (name: string, to: string): Promise<void> =>
    live.until(`${name} leads to ${to}, and not ${live.path(name)}`, () => live.path(name).includes(`/${to}/`));

  it('come when their revision does, follow its configuration, move, and go', async () => {
    live.cluster.put('revisiontags', revisionTag('prod', 'old'));
    await live.until('it waits', () => live.ready('revisiontags', 'prod') === 'False/UnknownRevision');
    live.cluster.put('injectorconfigs', injectorConfig('old'));
    await leads('sidecar-injector-tag-prod', 'old');
    const first = live.path('sidecar-injector-tag-prod');
    live.cluster.edit('injectorconfigs', 'old', undefined, (object) => {
      object.metadata.generation = 2;
      object.spec = { injection: { templates: { sidecar: template('two') } } };
    });
    await live.until('it follows', () => live.path('sidecar-injector-tag-prod') !== first);
    live.cluster.put('injectorconfigs', injectorConfig('new'));
    await live.until('new is there', () => live.ready('injectorconfigs', 'new') === 'True/Serving');
    live.cluster.edit('revisiontags', 'prod', undefined, (object) => {
      object.metadata.generation = 2;
      object.spec = { revision: 'new' };
    });
    await leads('sidecar-injector-tag-prod', 'new');
    live.cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-tag-prod');
    await leads('sidecar-injector-tag-prod', 'new');
    live.cluster.remove('revisiontags', 'prod');
    await live.until('it goes', () => live.path('sidecar-injector-tag-prod') === 'none');
  });

  it('take over the default and give it back', async () => {
    live.cluster.put('injectorconfigs', injectorConfig('default'));
    live.cluster.put('injectorconfigs', injectorConfig('new'));
    await live.until('both are there', () => live.ready('injectorconfigs', 'new') === 'True/Serving');
    await leads('sidecar-injector-default', 'revisions/default');
    live.cluster.put('revisiontags', revisionTag('default', 'new'));
    await leads('sidecar-injector-default', 'tags/default/new');
    await live.until('it says so', () => live.ready('injectorconfigs', 'default') === 'True/Tagged');
    live.cluster.remove('revisiontags', 'default');
    await leads('sidecar-injector-default', 'revisions/default');
    await live.until('it says so', () => live.ready('injectorconfigs', 'default') === 'True/Serving');
  });

  it('say when their revision is not ready any more, and when it is again', async () => {
    live.cluster.put('injectorconfigs', injectorConfig('old'));
    live.cluster.put('revisiontags', revisionTag('prod', 'old'));
    await live.until('it is there', () => live.ready('revisiontags', 'prod') === 'True/Published');
    await live.quiet();
    const edit = (generation: number, text: string): void => {
      live.cluster.edit('injectorconfigs', 'old', undefined, (object) => {
        object.metadata.generation = generation;
        object.spec = { injection: { templates: { sidecar: text } } };
      });
    };
    edit(2, '{{ if }}');
    await live.until('it says so', () => live.ready('revisiontags', 'prod') === 'False/RevisionNotReady');
    await live.quiet();
    edit(3, template('one'));
    await live.until('it is again', () => live.ready('revisiontags', 'prod') === 'True/Published');
  });

  it('that were deleted while nobody ran leave nothing behind', async () => {
    live.cluster.put('injectorconfigs', injectorConfig('old'));
    live.cluster.put('revisiontags', revisionTag('prod', 'old'));
    await leads('sidecar-injector-tag-prod', 'old');
    await live.halt();
    live.cluster.remove('revisiontags', 'prod');
    await live.start();
    await live.until('it goes', () => live.path('sidecar-injector-tag-prod') === 'none');
  });

  it('learn of an injector of somebody else that comes and goes', async () => {
    const selector = { matchExpressions: [{ key: 'istio.io/rev', operator: 'In', values: ['prod'] }] };
    const foreign = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'istio-sidecar-injector' },
      webhooks: [
        {
          name: 'rev.namespace.sidecar-injector.istio.io',
          namespaceSelector: selector,
          objectSelector: {},
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
      ],
    };
    live.cluster.put('mutatingwebhookconfigurations', foreign);
    live.cluster.put('injectorconfigs', injectorConfig('old'));
    live.cluster.put('revisiontags', revisionTag('prod', 'old'));
    await live.until('it waits', () => live.ready('revisiontags', 'prod') === 'False/ForeignOverlap');
    await live.quiet();
    live.cluster.remove('mutatingwebhookconfigurations', 'istio-sidecar-injector');
    await leads('sidecar-injector-tag-prod', 'old');
  });
});
