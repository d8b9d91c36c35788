import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import { prometheusOperatorMetrics } from './operator-metrics.ts';

describe("the controller's metrics", () => {
  /** Returns the samples without help texts, buckets and sums. */
  async function samples(registry: Registry): Promise<string[]> {
    const text = await registry.metrics();
    return text.split('\n').filter((line) => line !== '' && !line.startsWith('#') && !/_bucket|_sum/.test(line));
  }

  it('counts all events that the controller reports', async () => {
    const registry = new Registry();
    const metrics = prometheusOperatorMetrics(registry);
    metrics.reconciled('a', 'Success', 0.01);
    metrics.queued(3);
    metrics.leading(true);
    metrics.applied('Secret', 'Created');
    metrics.conditions('a', new Map(Object.entries({ Ready: true, Overlap: false })));
    metrics.certificateExpires('a', new Date(5000), new Date(9000));
    metrics.certificateRotated('a', 'leaf', 'success');
    metrics.certificateRotated('a', 'authority', 'refused');
    metrics.authorityConfirmed(61);
    metrics.listed('nodes', 7);
    metrics.watchEnded('nodes', 'Expired');
    metrics.podNotInjected('a', 'HostNetwork');
    metrics.podEventOmitted();
    assert.deepEqual(await samples(registry), [
      'injector_reconcile_total{injector="a",outcome="Success"} 1',
      'injector_reconcile_duration_seconds_count 1',
      'injector_queue_length 3',
      'injector_leader 1',
      'injector_applies_total{kind="Secret",outcome="Created"} 1',
      'injector_condition{injector="a",type="Ready"} 1',
      'injector_condition{injector="a",type="Overlap"} 0',
      'injector_serving_certificate_expiry_timestamp_seconds{injector="a"} 5',
      'injector_certificate_authority_expiry_timestamp_seconds{injector="a"} 9',
      'injector_certificate_rotations_total{injector="a",subject="leaf",result="success"} 1',
      'injector_certificate_rotations_total{injector="a",subject="authority",result="refused"} 1',
      'injector_certificate_confirmation_seconds_count 1',
      'injector_lists_total{resource="nodes"} 1',
      'injector_watched_objects{resource="nodes"} 7',
      'injector_watch_ends_total{resource="nodes",reason="Expired"} 1',
      'injector_pods_not_injected_total{injector="a",reason="HostNetwork"} 1',
      'injector_pod_events_omitted_total 1',
    ]);
  });

  it('reads the usage on each scrape', async () => {
    const registry = new Registry();
    const metrics = prometheusOperatorMetrics(registry);
    const samplesOfUsage = async () => (await samples(registry)).filter((line) => /^injector_\w*pods\{/.test(line));
    assert.deepEqual(await samplesOfUsage(), []);
    let isLeading = true;
    metrics.usageFrom(() =>
      isLeading
        ? {
            pods: [{ injectorConfig: 'a', tag: 'prod', counts: { current: 2, stale: 1, missing: 0 } }],
            namespaces: [{ namespace: 'shop', counts: { current: 2, stale: 1, missing: 0 } }],
          }
        : undefined,
    );
    assert.deepEqual(await samplesOfUsage(), [
      'injector_pods{injector="a",tag="prod",state="current"} 2',
      'injector_pods{injector="a",tag="prod",state="stale"} 1',
      'injector_pods{injector="a",tag="prod",state="missing"} 0',
      'injector_namespace_pods{namespace="shop",state="current"} 2',
      'injector_namespace_pods{namespace="shop",state="stale"} 1',
      'injector_namespace_pods{namespace="shop",state="missing"} 0',
    ]);
    isLeading = false;
    assert.deepEqual(await samplesOfUsage(), []);
  });

  it('shows the rollouts of tags while this process leads', async () => {
    const registry = new Registry();
    const metrics = prometheusOperatorMetrics(registry);
    const samplesOfRollouts = async () =>
      (await samples(registry)).filter((line) => line.startsWith('injector_rollout_'));
    const counts = { ready: 2, failing: 1, total: 3 };
    metrics.rollout('prod', {
      phase: 'Progressing',
      reason: 'WatchingPods',
      message: '',
      stable: { revision: 'a', injectorConfig: 'a', hash: '0123abcd' },
      weight: 25,
      threshold: '4000000000000000',
      shadow: false,
      knownWorkloads: 8,
      canaryWorkloads: 2,
      pods: { stable: counts, canary: counts },
      injectionErrors: 4,
    });
    metrics.rolloutEvent('prod', 'StepStarted');
    const pods = (track: string) =>
      Object.entries(counts).map(
        ([state, n]) => `injector_rollout_pods{tag="prod",track="${track}",state="${state}"} ${n}`,
      );
    const isEvent = (line: string): boolean => line.startsWith('injector_rollout_events_total');
    const events = (await samplesOfRollouts()).filter(isEvent);
    assert.ok(events.includes('injector_rollout_events_total{tag="prod",reason="StepStarted"} 1'));
    const rolledBack = 'injector_rollout_events_total{tag="prod",reason="RolledBack"} 0';
    assert.ok(events.includes(rolledBack), 'increase() needs a zero');
    const figures = (await samplesOfRollouts()).filter((line) => !isEvent(line));
    assert.deepEqual(figures, [
      'injector_rollout_phase{tag="prod",phase="Progressing"} 1',
      'injector_rollout_weight{tag="prod"} 25',
      'injector_rollout_workloads{tag="prod",track="stable"} 6',
      'injector_rollout_workloads{tag="prod",track="canary"} 2',
      ...pods('stable'),
      ...pods('canary'),
      'injector_rollout_injection_errors{tag="prod"} 4',
    ]);
    metrics.leading(false);
    assert.deepEqual(await samplesOfRollouts(), events);
  });

  it('shows the restarts for tags while the spec requests them and this process leads', async () => {
    const registry = new Registry();
    const metrics = prometheusOperatorMetrics(registry);
    const samplesOfRestarts = async () =>
      (await samples(registry)).filter((line) => /injector_(restart|pod_updates)/.test(line));
    const counts = { stale: 5, restarting: 2, waiting: 3, failing: 1, untouched: 1 };
    metrics.restarted('prod', 0);
    metrics.restarted('prod', 1);
    metrics.restarted('beta', 0);
    metrics.podsUpdated('prod', 'completed', 0);
    metrics.podsUpdated('prod', 'failed', 1);
    for (const tag of ['prod', 'beta']) metrics.restarts(tag, { phase: 'Restarting', counts });
    metrics.restarts('beta', undefined);
    const counted = [
      'injector_restarts_total{tag="prod"} 1',
      'injector_restarts_total{tag="beta"} 0',
      'injector_pod_updates_total{tag="prod",result="completed"} 0',
      'injector_pod_updates_total{tag="prod",result="failed"} 1',
    ];
    assert.deepEqual(await samplesOfRestarts(), [
      ...counted,
      'injector_restart_phase{tag="prod",phase="Restarting"} 1',
      'injector_restart_workloads{tag="prod",state="stale"} 5',
      'injector_restart_workloads{tag="prod",state="restarting"} 2',
      'injector_restart_workloads{tag="prod",state="waiting"} 3',
      'injector_restart_workloads{tag="prod",state="failing"} 1',
      'injector_restart_workloads{tag="prod",state="untouched"} 1',
    ]);
    metrics.leading(false);
    assert.deepEqual(await samplesOfRestarts(), counted);
  });

  it('removes only the series of a deleted InjectorConfig', async () => {
    const registry = new Registry();
    const metrics = prometheusOperatorMetrics(registry);
    for (const name of ['a', 'b']) {
      metrics.reconciled(name, 'Error', 1);
      metrics.conditions(name, new Map([['Ready', true]]));
      metrics.certificateExpires(name, new Date(0), new Date(0));
      metrics.certificateRotated(name, 'leaf', 'failed');
    }
    metrics.forget('a');
    metrics.forget('never seen');
    const left = await samples(registry);
    assert.equal(left.filter((line) => line.includes('injector="a"')).length, 0);
    assert.equal(left.filter((line) => line.includes('injector="b"')).length, 5);
  });

  it('drops what only the leader knows, as objects may change or be deleted later', async () => {
    const registry = new Registry();
    const metrics = prometheusOperatorMetrics(registry);
    metrics.leading(true);
    metrics.conditions('a', new Map([['Ready', false]]));
    metrics.certificateExpires('a', new Date(0), new Date(0));
    metrics.held('a', 2);
    metrics.certificateRotated('a', 'leaf', 'failed');
    metrics.leading(false);
    const left = (await samples(registry)).filter((line) => line.includes('"a"'));
    const counted = 'injector_certificate_rotations_total{injector="a",subject="leaf",result="failed"} 1';
    assert.deepEqual(left, [counted], 'a counter that starts again would count twice');
    assert.ok((await samples(registry)).includes('injector_leader 0'));
  });
});
