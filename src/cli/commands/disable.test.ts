import assert from 'node:assert/strict';
import { json } from '../../kube/testdata/fake-api-server.ts';
import { refusal } from '../testdata/revision-cluster.ts';
import { SwitchCluster } from '../testdata/switch-cluster.ts';

describe('injector disable', () => {
  let cluster: SwitchCluster;
  beforeEach(async () => {
    cluster = new SwitchCluster();
    await cluster.start();
    cluster.install();
  });
  afterEach(() => cluster.stop());

  it('disables one revision of two: the pause first, then the webhook', async () => {
    assert.deepEqual(await cluster.run('disable', '--revision', 'green'), {
      code: 0,
      out: [
        'InjectorConfig second: paused',
        'MutatingWebhookConfiguration sidecar-injector-second: deleted',
        'pods start without these injectors now; `injector enable` takes it back',
      ],
    });
    assert.deepEqual(cluster.changes, [
      'PATCH injectorconfigs second',
      'DELETE mutatingwebhookconfigurations sidecar-injector-second',
    ]);
    assert.deepEqual([cluster.paused('blue'), cluster.paused('second')], [undefined, true]);
    assert.deepEqual(cluster.webhooks, ['sidecar-injector-blue', 'injector-operator']);
  });

  it('disables all, and never what owns the webhooks', async () => {
    assert.equal((await cluster.run('disable', '--all')).code, 0);
    assert.deepEqual(cluster.webhooks, ['injector-operator']);
    const { out, code } = await cluster.run('disable', '--all');
    assert.equal(code, 0);
    assert.deepEqual(out.slice(0, 2), ['InjectorConfig blue: paused already', 'InjectorConfig second: paused already']);
  });

  it('finds what has lost its labels, and what an InjectorConfig left that is gone', async () => {
    cluster.edit('mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined, (object) => {
      delete object.metadata.labels;
    });
    cluster.remove('injectorconfigs', 'second');
    await cluster.run('disable', '--revision', 'blue', 'green');
    assert.deepEqual(cluster.webhooks, ['injector-operator']);
  });

  it('does nothing in a dry run but say what it would', async () => {
    assert.deepEqual(await cluster.run('disable', '--all', '--dry-run'), {
      code: 0,
      out: [
        'InjectorConfig blue: would be paused',
        'InjectorConfig second: would be paused',
        'MutatingWebhookConfiguration sidecar-injector-blue: would be deleted',
        'MutatingWebhookConfiguration sidecar-injector-second: would be deleted',
      ],
    });
    assert.deepEqual(cluster.changes, []);
  });

  it('goes on where it may not ask for rights, and fails where the API server does not answer for itself', async () => {
    cluster.faults.push(refusal('POST', 'selfsubjectaccessreviews', 403));
    assert.equal((await cluster.run('disable', '--all', '--dry-run')).code, 0);
    cluster.faults[0] = refusal('POST', 'selfsubjectaccessreviews', 500);
    await assert.rejects(cluster.run('disable', '--all', '--dry-run'), /no/);
  });

  it('deletes webhooks also where their kind of InjectorConfig is gone; other errors end it', async () => {
    cluster.faults.push(refusal('GET', 'injectorconfigs', 500, 'no InjectorConfigs'));
    await assert.rejects(cluster.run('disable', '--all'), /no InjectorConfigs/);
    cluster.faults[0] = refusal('GET', 'injectorconfigs', 404);
    assert.equal((await cluster.run('disable', '--all')).code, 0);
    assert.deepEqual(cluster.webhooks, ['injector-operator']);
  });

  it('deletes the webhook even if the pause is refused, and says what that means', async () => {
    cluster.faults.push(refusal('PATCH', 'injectorconfigs', 422, 'spec.webhook is invalid'));
    const { out, code } = await cluster.run('disable', '--revision', 'blue');
    assert.equal(code, 1);
    assert.deepEqual(out, [
      'InjectorConfig blue: not paused: spec.webhook is invalid',
      'MutatingWebhookConfiguration sidecar-injector-blue: deleted',
      'not everything is done: what is not paused, a living operator installs again; what is not deleted, still stops pods',
    ]);
  });

  it('deletes again what an operator puts back that was writing it', async () => {
    cluster.faults.push(refusal('DELETE', 'blue', 404, 'gone', 1));
    const { out, code } = await cluster.run('disable', '--revision', 'blue');
    assert.equal(code, 0);
    assert.equal(out.filter((line) => line.endsWith('sidecar-injector-blue: deleted')).length, 2);
    assert.ok(!cluster.webhooks.includes('sidecar-injector-blue'));
  });

  it('names the finalizer that holds a webhook', async () => {
    cluster.edit('mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined, (object) => {
      object.metadata.finalizers = ['example.com/hold'];
    });
    const { out, code } = await cluster.run('disable', '--revision', 'blue');
    assert.equal(code, 1);
    const held = 'MutatingWebhookConfiguration sidecar-injector-blue: still there: held by finalizers example.com/hold';
    assert.ok(out.includes(held));
  });

  it('gives up on a webhook that somebody makes again and again', async () => {
    cluster.faults.push({
      matches: (method, path) => method === 'DELETE' && path.endsWith('blue'),
      answer: (response) => {
        json(response, 200, {});
      },
    });
    const { out, code } = await cluster.run('disable', '--revision', 'blue');
    assert.equal(code, 1);
    assert.ok(out.some((line) => line.endsWith('sidecar-injector-blue: still there: somebody makes it again')));
  });
});
