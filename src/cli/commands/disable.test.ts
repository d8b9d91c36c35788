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

  describe('with tags', () => {
    const installTags = (): void => {
      cluster.put('injectorconfigs', injectorConfig('default'));
      cluster.tag('prod', 'second', 'green');
      cluster.tag('default', 'second', 'green');
      cluster.tag('test', 'blue', 'blue');
      cluster.writes.length = 0;
    };
    const left = ['sidecar-injector-blue', 'injector-operator', 'sidecar-injector-tag-test'];

    it('takes away those that lead to the revision, the default too, and no other', async () => {
      installTags();
      assert.equal((await cluster.run('disable', '--revision', 'green')).code, 0);
      assert.deepEqual(cluster.webhooks, left);
    });

    it('finds them also when they have lost their labels, by where they call', async () => {
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
      assert.ok(
        out.includes('tag default leads to revision green: name that to take it out of the way'),
        out.join('\n'),
      );
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
            it(`takes away those whose pods may get ${side} from it, and pauses nobody else`, async () => {
              begin();
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

          it('finds them also when they have lost their labels', async () => {
            begin();
            cluster.edit('mutatingwebhookconfigurations', tag, undefined, (object) => {
              delete object.metadata.labels;
            });
            await cluster.run('disable', '--revision', 'green');
            assert.deepEqual(cluster.webhooks, ['sidecar-injector-blue', 'injector-operator']);
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

    it(`${command} names the revisions there are, and touches nothing`, async () => {
      const message = '--revision: no InjectorConfig and no webhook has the revision red; there are blue, green';
      await assert.rejects(cluster.run(command, '--revision', 'blue', 'red'), { message });
      assert.deepEqual(cluster.changes, []);
    });

    it(`${command} says that there is nothing to do`, async () => {
      const empty = new SwitchCluster();
      await empty.start();
      const { out, code } = await empty.run(command, '--all');
      assert.match(out[0] ?? '', new RegExp(`^nothing to ${command}: `));
      assert.equal(code, 0);
      await assert.rejects(empty.run(command, '--revision', 'red'), /there is none on this cluster/);
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
        'the user of this kubeconfig lacks the right to patch injectorconfigs.sidecar-injector.io; nothing was changed';
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
