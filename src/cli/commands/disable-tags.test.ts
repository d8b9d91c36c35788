import assert from 'node:assert/strict';
import { json } from '../../kube/testdata/fake-api-server.ts';
import { injectorConfig } from '../../operator/testdata/operator-fixture.ts';
import { SwitchCluster } from '../testdata/switch-cluster.ts';

describe('injector disable, with tags', () => {
  let cluster: SwitchCluster;
  beforeEach(async () => {
    cluster = new SwitchCluster();
    await cluster.start();
    cluster.install();
  });
  afterEach(() => cluster.stop());

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
    assert.ok(out.includes('tag default leads to revision green: name that to take it out of the way'), out.join('\n'));
    await assert.rejects(
      cluster.run('disable', '--revision', 'prod'),
      /no webhook has the revision prod; .*tag prod leads to revision green: name that/,
    );
  });

  describe('on their way from one revision to another', () => {
    const tag = 'sidecar-injector-tag-prod';
    const ways: [title: string, url?: string][] = [['by their Services'], ['by a url', 'https://injector.example.com']];
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
