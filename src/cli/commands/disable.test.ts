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

  it('disables one revision of two: the pause first, then the webhook', async () => {
    assert.deepEqual(await cluster.run('disable', '--revision', 'green'), {
      code: 0,
      out: [
        'InjectorConfig second: paused',
        'MutatingWebhookConfiguration sidecar-injector-second: deleted',
        'pods start without these injectors now; `injector enable`, with the same options, takes it back',
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

  it('goes on where it may not ask for rights, and where the kind of InjectorConfigs is gone; other errors end it', async () => {
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

  it('names the finalizer that holds a webhook, and gives up on one that somebody makes again and again', async () => {
    const failing = async (reason: string): Promise<void> => {
      const { out, code } = await cluster.run('disable', '--revision', 'blue');
      assert.equal(code, 1);
      assert.ok(out.includes(`MutatingWebhookConfiguration sidecar-injector-blue: still there: ${reason}`));
    };
    const matches = (method: string, path: string): boolean => method === 'DELETE' && path.endsWith('blue');
    cluster.faults.push({ matches, answer: (response) => json(response, 200, {}) });
    await failing('somebody makes it again');
    cluster.faults.length = 0;
    cluster.edit('mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined, (object) => {
      object.metadata.finalizers = ['example.com/hold'];
    });
    await failing('held by finalizers example.com/hold');
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

    it('takes away those that lead to the revision, the default too, and no other; without labels by where they call', async () => {
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

    it("leaves a tag of the revision's own name that leads elsewhere, and says where", async () => {
      installTags();
      const { out } = await cluster.run('disable', '--revision', 'default');
      assert.ok(cluster.webhooks.includes('sidecar-injector-default'));
      const elsewhere = 'tag default leads to revision green: name that to take it out of the way';
      assert.ok(out.includes(elsewhere), out.join('\n'));
      await assert.rejects(
        cluster.run('disable', '--revision', 'prod'),
        /no webhook has the revision prod; .*tag prod leads to revision green: name that/,
      );
    });

    describe('on their way from one revision to another', () => {
      const tag = 'sidecar-injector-tag-prod';
      const ways: [title: string, url?: string][] = [
        ['by their Services'],
        ['by a url', 'https://injector.example.com'],
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
            it(`takes away those whose pods may get ${side} from it, without labels too, and pauses nobody else`, async () => {
              begin();
              if (side === 'the canary')
                cluster.edit('mutatingwebhookconfigurations', tag, undefined, ({ metadata }) => delete metadata.labels);
              assert.equal((await cluster.run('disable', '--revision', revision)).code, 0);
              assert.ok(!cluster.webhooks.includes(tag));
              assert.ok(!cluster.webhooks.includes(own));
              assert.deepEqual([cluster.paused('blue'), cluster.paused('second')], isPaused);
            });
          }

          it('leaves those that only try the revision: it stops none of their pods', async () => {
            begin(true);
            assert.equal((await cluster.run('disable', '--revision', 'green')).code, 0);
            assert.deepEqual(cluster.webhooks, ['sidecar-injector-blue', 'injector-operator', tag]);
            assert.equal((await cluster.run('disable', '--revision', 'blue')).code, 0);
            assert.deepEqual(cluster.webhooks, ['injector-operator']);
          });
        });
      }

      it('leaves alone what leads neither from nor to it', async () => {
        cluster.put('injectorconfigs', injectorConfig('third'));
        cluster.rollout('prod', 'blue', 'second', { revision: 'blue' });
        await cluster.run('disable', '--revision', 'third');
        assert.ok(cluster.webhooks.includes(tag));
      });

      it('leaves what a living operator has brought back to stable meanwhile', async () => {
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
    it(`${command} wants exactly one of --revision and --all`, async () => {
      const message = /say which injectors: --revision NAME .* or --all/;
      await assert.rejects(cluster.run(command), { name: 'UsageError', message });
      await assert.rejects(cluster.run(command, '--all', '--revision', 'blue'), { name: 'UsageError', message });
    });

    it(`${command} names the revisions there are and touches nothing, or says that there is nothing to do`, async () => {
      const message = '--revision: no InjectorConfig and no webhook has the revision red; there are: blue, green';
      await assert.rejects(cluster.run(command, '--revision', 'blue', 'red'), { message });
      assert.deepEqual(cluster.changes, []);
      const empty = new SwitchCluster();
      await empty.start();
      const { out, code } = await empty.run(command, '--all');
      assert.match(out[0] ?? '', new RegExp(`^nothing to ${command}: `));
      assert.equal(code, 0);
      await assert.rejects(empty.run(command, '--revision', 'red'), /there are none/);
      await empty.stop();
    });

    it(`${command} names the rights that are missing before it touches anything`, async () => {
      cluster.faults.push({
        matches: (_, path, body) => path.includes('selfsubjectaccessreviews') && body.includes('"patch"'),
        answer: (response) => {
          json(response, 201, { status: { allowed: false } });
        },
      });
      const message =
        "the user of this kubeconfig lacks the right to patch injectorconfigs.sidecar-injector.io; nothing was changed; have it granted, or name another user's context with --context";
      await assert.rejects(cluster.run(command, '--all'), { message });
      assert.deepEqual(cluster.changes, []);
    });

    it(`${command} on the command line says what is wrong in one line`, async () => {
      const { errors, code } = await runCommand([command, '--all', '--kubeconfig', '/does/not/exist']);
      assert.match(errors, /^error: .*\/does\/not\/exist/);
      assert.ok(!errors.includes('\n'));
      assert.notEqual(code, 0);
      assert.equal((await runCommand([command])).code, 2);
    });
  }
});
