import assert from 'node:assert/strict';
import { json } from '../../kube/testdata/fake-api-server.ts';
import { injectorConfig } from '../../operator/testdata/operator-fixture.ts';
import { runCommand } from '../testdata/recording-terminal.ts';
import { refusal } from '../testdata/revision-cluster.ts';
import { SwitchCluster } from '../testdata/switch-cluster.ts';

describe('injector disable and enable', () => {
  let cluster: SwitchCluster;
  beforeEach(async () => {
    cluster = new SwitchCluster();
    await cluster.start();
    cluster.install();
  });
  afterEach(() => cluster.stop());

  it('disables one of two revisions: pauses the InjectorConfig, then deletes the webhook', async () => {
    assert.deepEqual(await cluster.run('disable', 'green'), {
      code: 0,
      out: [
        'InjectorConfig second: paused',
        'MutatingWebhookConfiguration sidecar-injector-second: deleted',
        'new pods now start without these injectors; to undo: `injector enable green`',
      ],
    });
    const does =
      /^pauses 1 InjectorConfig and deletes 1 webhook configuration: new pods start without their sidecar in 0 namespaces .* ask for it; to undo: .*enable green`$/;
    assert.match(cluster.errors, does);
    assert.deepEqual(cluster.changes, [
      'PATCH injectorconfigs second',
      'DELETE mutatingwebhookconfigurations sidecar-injector-second',
    ]);
    assert.deepEqual([cluster.paused('blue'), cluster.paused('second')], [undefined, true]);
    assert.deepEqual(cluster.webhooks, ['sidecar-injector-blue', 'injector-operator']);
  });

  it('disables all revisions, and keeps the owner of the webhooks', async () => {
    assert.equal((await cluster.run('disable', '--all')).code, 0);
    assert.deepEqual(cluster.webhooks, ['injector-operator']);
    const { out, code } = await cluster.run('disable', '--all');
    assert.equal(code, 0);
    assert.match(
      cluster.errors,
      /^pauses and deletes nothing: 2 InjectorConfigs paused before, without a webhook; to undo: /,
    );
    assert.deepEqual(out.slice(0, 2), ['InjectorConfig blue: already paused', 'InjectorConfig second: already paused']);
  });

  it('says first what it will do, names the namespaces, and how to undo exactly this', async () => {
    const announced = async (...argv: string[]): Promise<string> => {
      await cluster.run('disable', '--dry-run', ...argv);
      return cluster.errors;
    };
    for (const name of ['green', 'plain'])
      cluster.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { rev: name } } });
    for (const [name, rev] of [['blue', 'blue'] as const, ['second', 'green'] as const]) {
      cluster.edit('mutatingwebhookconfigurations', `sidecar-injector-${name}`, undefined, (object) => {
        object.webhooks = [{ namespaceSelector: { matchLabels: { rev } } }];
      });
    }
    const inGreen =
      /^pauses 2 .* deletes 2 .*s: new pods start .* in 1 namespace \(green\), and .*`injector enable --all`$/;
    assert.match(await announced('--all'), inGreen);
    cluster.faults.push(refusal('GET', '/namespaces', 403, 'no'));
    const unknown = /in namespaces that cannot be listed \(no\).*`injector enable blue green`$/;
    assert.match(await announced('green', 'blue'), unknown);
    cluster.faults.length = 0;
    await cluster.run('disable', '-r', 'blue');
    assert.match(await announced('--all'), /^pauses 1 InjectorConfig .*`injector enable green`$/);
    cluster.remove('injectorconfigs', 'second');
    assert.match(await announced('green'), /^pauses 0 .*; no command brings them back, because their Inj/);
    const message = /^no InjectorConfig has the revision green/;
    await assert.rejects(cluster.run('enable', 'green'), { name: 'UsageError', message });
  });

  it('finds webhooks without labels and without an InjectorConfig', async () => {
    cluster.edit('mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined, (object) => {
      delete object.metadata.labels;
    });
    cluster.remove('injectorconfigs', 'second');
    await cluster.run('disable', '--revision', 'blue', 'green');
    assert.deepEqual(cluster.webhooks, ['injector-operator']);
  });

  it('only prints the changes in a dry run', async () => {
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

  it('continues if access reviews are forbidden or the CRD is missing, and fails on other errors', async () => {
    for (const [method, plural, code] of [
      ['POST', 'selfsubjectaccessreviews', 403],
      ['GET', 'injectorconfigs', 404],
    ] as const) {
      cluster.faults[0] = refusal(method, plural, 500, `no ${plural}`);
      await assert.rejects(cluster.run('disable', '--all'), { message: `no ${plural}` });
      cluster.faults[0] = refusal(method, plural, code);
      assert.equal((await cluster.run('disable', '--all')).code, 0);
      assert.deepEqual(cluster.webhooks, ['injector-operator']);
      cluster.install();
    }
  });

  it('deletes the webhook even if the pause is refused, and reports the consequence', async () => {
    cluster.faults.push(refusal('PATCH', 'injectorconfigs', 422, 'spec.webhook is invalid'));
    const { out, code } = await cluster.run('disable', '--revision', 'blue');
    assert.equal(code, 1);
    assert.deepEqual(out, [
      'InjectorConfig blue: not paused: spec.webhook is invalid',
      'MutatingWebhookConfiguration sidecar-injector-blue: deleted',
      'incomplete: a running operator restores the webhooks of InjectorConfigs that are not paused, and webhooks that are not deleted still refuse pods; to undo: `injector enable blue`',
    ]);
  });

  it('deletes a webhook again if an operator has restored it', async () => {
    cluster.faults.push(refusal('DELETE', 'blue', 404, 'gone', 1));
    const { out, code } = await cluster.run('disable', '--revision', 'blue');
    assert.equal(code, 0);
    assert.equal(out.filter((line) => line.endsWith('sidecar-injector-blue: deleted')).length, 2);
    assert.ok(!cluster.webhooks.includes('sidecar-injector-blue'));
  });

  it('names the finalizer of a webhook, and gives up if the webhook is restored repeatedly', async () => {
    const failing = async (reason: string): Promise<void> => {
      const { out, code } = await cluster.run('disable', '--revision', 'blue');
      assert.equal(code, 1);
      assert.ok(out.includes(`MutatingWebhookConfiguration sidecar-injector-blue: still there: ${reason}`));
    };
    const matches = (method: string, path: string): boolean => method === 'DELETE' && path.endsWith('blue');
    cluster.faults.push({ matches, answer: (response) => json(response, 200, {}) });
    await failing('another client restores it');
    cluster.faults.length = 0;
    cluster.edit('mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined, (object) => {
      object.metadata.finalizers = ['example.com/hold'];
    });
    await failing('it has the finalizers example.com/hold');
  });

  describe('with tags', () => {
    const installTags = (): void => {
      cluster.put('injectorconfigs', injectorConfig('default'));
      cluster.tag('prod', 'second', 'green');
      cluster.tag('default', 'second', 'green');
      cluster.tag('test', 'blue', 'blue');
      cluster.writes.length = 0;
    };
    const left = ['sidecar-injector-blue', 'injector-operator', 'sidecar-injector-tag-test'];

    it('deletes the webhooks of tags for the revision, including default, and finds unlabeled webhooks by path', async () => {
      installTags();
      assert.equal((await cluster.run('disable', '--revision', 'green')).code, 0);
      assert.deepEqual(cluster.webhooks, left);
      cluster.install();
      installTags();
      for (const name of ['sidecar-injector-tag-prod', 'sidecar-injector-default', 'sidecar-injector-second']) {
        cluster.edit('mutatingwebhookconfigurations', name, undefined, (object) => {
          delete object.metadata.labels;
        });
      }
      await cluster.run('disable', '--revision', 'green');
      assert.deepEqual(cluster.webhooks, left);
      installTags();
      await cluster.run('disable', '--all');
      assert.deepEqual(cluster.webhooks, ['injector-operator']);
    });

    it('keeps a tag that has the name of the revision but another target, and names the target', async () => {
      installTags();
      const { out } = await cluster.run('disable', '--revision', 'default');
      assert.ok(cluster.webhooks.includes('sidecar-injector-default'));
      const elsewhere = 'tag default points to revision green: name that revision to disable the tag';
      assert.ok(out.includes(elsewhere), out.join('\n'));
      await assert.rejects(
        cluster.run('disable', '--revision', 'prod'),
        /no webhook has the revision prod; .*tag prod points to revision green: name that/,
      );
    });

    describe('in a rollout', () => {
      const tag = 'sidecar-injector-tag-prod';
      const ways: [title: string, url?: string][] = [
        ['with a Service'],
        ['with a url', 'https://injector.example.com'],
      ];
      for (const [title, url] of ways) {
        describe(title, () => {
          const begin = (shadow = false): void => {
            cluster.rollout('prod', 'blue', 'second', { revision: 'blue', shadow, ...(url && { url }) });
          };

          for (const [side, revision, own, isPaused] of [
            ['stable', 'blue', 'sidecar-injector-blue', [true, undefined]],
            ['the canary', 'green', 'sidecar-injector-second', [undefined, true]],
          ] as const) {
            it(`deletes the webhook of a tag whose pods can get ${side}, and pauses only the revision`, async () => {
              begin();
              if (side === 'the canary')
                cluster.edit('mutatingwebhookconfigurations', tag, undefined, ({ metadata }) => delete metadata.labels);
              assert.equal((await cluster.run('disable', '--revision', revision)).code, 0);
              assert.ok(!cluster.webhooks.includes(tag));
              assert.ok(!cluster.webhooks.includes(own));
              assert.deepEqual([cluster.paused('blue'), cluster.paused('second')], isPaused);
            });
          }

          it('keeps a tag whose shadow step compares the revision', async () => {
            begin(true);
            assert.equal((await cluster.run('disable', '--revision', 'green')).code, 0);
            assert.deepEqual(cluster.webhooks, ['sidecar-injector-blue', 'injector-operator', tag]);
            assert.equal((await cluster.run('disable', '--revision', 'blue')).code, 0);
            assert.deepEqual(cluster.webhooks, ['injector-operator']);
          });
        });
      }

      it('keeps the webhook of a rollout between other revisions', async () => {
        cluster.put('injectorconfigs', injectorConfig('third'));
        cluster.rollout('prod', 'blue', 'second', { revision: 'blue' });
        await cluster.run('disable', '--revision', 'third');
        assert.ok(cluster.webhooks.includes(tag));
      });

      it('keeps a tag that the operator rolls back to stable during the command', async () => {
        cluster.rollout('prod', 'blue', 'second', { revision: 'blue' });
        cluster.faults.push({
          matches: (method, path) => method === 'DELETE' && path.endsWith(tag),
          answer: (response) => {
            cluster.tag('prod', 'blue', 'blue');
            json(response, 200, {});
          },
          times: 1,
        });
        const { out, code } = await cluster.run('disable', '--revision', 'green');
        assert.equal(code, 0, out.join('\n'));
        assert.deepEqual(cluster.webhooks, ['sidecar-injector-blue', 'injector-operator', tag]);
        assert.equal(out.filter((line) => line.includes(tag)).length, 1);
      });
    });
  });

  for (const command of ['disable', 'enable']) {
    it(`${command} requires either revisions or --all`, async () => {
      const message = 'name the injectors: one or more revisions, or --all, but not both';
      await assert.rejects(cluster.run(command), { name: 'UsageError', message });
      await assert.rejects(cluster.run(command, '--all', '--revision', 'blue'), { name: 'UsageError', message });
    });

    it(`${command} refuses an unknown revision, lists all revisions, and reports an empty cluster`, async () => {
      const message = 'no InjectorConfig and no webhook has the revision red; existing names: blue, green';
      await assert.rejects(cluster.run(command, 'blue', 'red'), { name: 'UsageError', message });
      assert.deepEqual(cluster.changes, []);
      const empty = new SwitchCluster();
      await empty.start();
      const { out, code } = await empty.run(command, '--all');
      assert.match(out[0] ?? '', new RegExp(`^nothing to ${command}: `));
      assert.equal(code, 0);
      await assert.rejects(empty.run(command, '--revision', 'red'), /none exist/);
      await empty.stop();
    });

    it(`${command} reports missing rights before any change`, async () => {
      cluster.faults.push({
        matches: (_, path, body) => path.includes('selfsubjectaccessreviews') && body.includes('"patch"'),
        answer: (response) => {
          json(response, 201, { status: { allowed: false } });
        },
      });
      const message =
        "the user of this kubeconfig lacks the right to patch injectorconfigs.sidecar-injector.io; nothing was changed; ask for the right, or name another user's context with --context";
      await assert.rejects(cluster.run(command, '--all'), { message });
      assert.deepEqual(cluster.changes, []);
    });

    it(`${command} prints an error in one line`, async () => {
      const { errors, code } = await runCommand([command, '--all', '--kubeconfig', '/does/not/exist']);
      assert.match(errors, /^error: .*\/does\/not\/exist/);
      assert.ok(!errors.includes('\n'));
      assert.notEqual(code, 0);
      assert.equal((await runCommand([command])).code, 2);
    });
  }
});
