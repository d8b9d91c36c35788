import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes.ts';
import { ApiClient } from '../../kube/api-client.ts';
import { failure, json } from '../../kube/testdata/fake-api-server.ts';
import { MemoryCluster } from '../../operator/testdata/memory-cluster.ts';
import { injectorConfig } from '../../operator/testdata/operator-fixture.ts';
import { runCommand } from '../testdata/recording-terminal.ts';
import { disableCommand } from './disable.ts';
import { enableCommand } from './enable.ts';

const ours = (name: string, revision: string): KubernetesObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingWebhookConfiguration',
  metadata: {
    name: `sidecar-injector-${name}`,
    labels: { 'app.kubernetes.io/managed-by': 'sidecar-injector', 'sidecar-injector.io/revision': revision },
  },
  webhooks: [{ name: 'rev.object.sidecar-injector.io' }],
});

describe('injector disable and enable', () => {
  const cluster = new MemoryCluster();
  before(() => cluster.start());
  after(() => cluster.stop());

  beforeEach(() => {
    cluster.faults.length = 0;
    for (const plural of ['injectorconfigs', 'mutatingwebhookconfigurations'])
      for (const name of cluster.names(plural)) cluster.remove(plural, name);
    cluster.writes.length = 0;
  });
  const install = (): void => {
    cluster.put('injectorconfigs', injectorConfig('blue'));
    cluster.put('injectorconfigs', injectorConfig('second', { revision: 'green' }));
    cluster.put('mutatingwebhookconfigurations', ours('blue', 'blue'));
    cluster.put('mutatingwebhookconfigurations', ours('second', 'green'));
    cluster.put('mutatingwebhookconfigurations', {
      ...ours('owner', ''),
      metadata: { name: 'injector-operator', labels: { 'app.kubernetes.io/managed-by': 'Helm' } },
      webhooks: [],
    });
    cluster.writes.length = 0;
  };
  const run = async (...argv: string[]): Promise<{ out: string[]; code: number }> => {
    let out = '';
    let code = 0;
    const terminal = {
      out: (text: string) => {
        out += text;
      },
      error: () => undefined,
      readInput: () => Promise.resolve(''),
      ask: () => Promise.resolve(undefined),
      screen: () => undefined,
      onInterrupt: () => () => undefined,
      setExitCode: (value: number) => {
        code = value;
      },
    };
    const connect = (): ApiClient => new ApiClient(cluster.server.kubeConfig(), {});
    const [name, ...flags] = argv;
    const command = name === 'enable' ? enableCommand(terminal, connect) : disableCommand(terminal, connect);
    await command
      .exitOverride()
      .configureOutput({ writeErr: () => undefined })
      .parseAsync(flags, { from: 'user' });
    return { out: out.trimEnd().split('\n'), code };
  };
  const paused = (name: string): unknown => (cluster.get('injectorconfigs', name)?.spec as { paused?: boolean }).paused;
  const changes = (): string[] => cluster.writes.filter((write) => !write.includes('selfsubjectaccessreviews'));
  const webhooksThere = (): string[] => cluster.names('mutatingwebhookconfigurations');

  it('disables one revision of two: the pause first, then the webhook', async () => {
    install();
    assert.deepEqual(await run('disable', '--revision', 'green'), {
      code: 0,
      out: [
        'InjectorConfig second: paused',
        'MutatingWebhookConfiguration sidecar-injector-second: deleted',
        'pods start without these injectors now; `injector enable` takes it back',
      ],
    });
    assert.deepEqual(changes(), [
      'PATCH injectorconfigs second',
      'DELETE mutatingwebhookconfigurations sidecar-injector-second',
    ]);
    assert.deepEqual([paused('blue'), paused('second')], [undefined, true]);
    assert.deepEqual(webhooksThere(), ['sidecar-injector-blue', 'injector-operator']);
  });

  it('disables all, and never what owns the webhooks', async () => {
    install();
    assert.equal((await run('disable', '--all')).code, 0);
    assert.deepEqual(webhooksThere(), ['injector-operator']);
    const { out, code } = await run('disable', '--all');
    assert.equal(code, 0);
    assert.deepEqual(out.slice(0, 2), ['InjectorConfig blue: paused already', 'InjectorConfig second: paused already']);
  });

  it('finds what has lost its labels, and what an InjectorConfig left that is gone', async () => {
    install();
    cluster.edit('mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined, (object) => {
      delete object.metadata.labels;
    });
    cluster.remove('injectorconfigs', 'second');
    await run('disable', '--revision', 'blue', 'green');
    assert.deepEqual(webhooksThere(), ['injector-operator']);
  });

  describe('with tags', () => {
    const tagged = (tag: string, name: string, revision: string): KubernetesObject => ({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: {
        name: tag === 'default' ? 'sidecar-injector-default' : `sidecar-injector-tag-${tag}`,
        labels: {
          'app.kubernetes.io/managed-by': 'sidecar-injector',
          'sidecar-injector.io/revision': revision,
          'sidecar-injector.io/tag': tag,
        },
      },
      webhooks: [
        {
          name: 'rev.object.sidecar-injector.io',
          clientConfig: { service: { path: `/tags/${tag}/${name}/0123abcd/inject` } },
        },
      ],
    });
    const installTags = (): void => {
      install();
      cluster.put('injectorconfigs', injectorConfig('default'));
      cluster.put('mutatingwebhookconfigurations', tagged('prod', 'second', 'green'));
      cluster.put('mutatingwebhookconfigurations', tagged('default', 'second', 'green'));
      cluster.put('mutatingwebhookconfigurations', tagged('test', 'blue', 'blue'));
      cluster.writes.length = 0;
    };
    const left = ['sidecar-injector-blue', 'injector-operator', 'sidecar-injector-tag-test'];

    it('takes away those that lead to the revision, the default too, and no other', async () => {
      installTags();
      assert.equal((await run('disable', '--revision', 'green')).code, 0);
      assert.deepEqual(webhooksThere(), left);
    });

    it('finds them also when they have lost their labels, by where they call', async () => {
      installTags();
      for (const name of ['sidecar-injector-tag-prod', 'sidecar-injector-default', 'sidecar-injector-second']) {
        cluster.edit('mutatingwebhookconfigurations', name, undefined, (object) => {
          delete object.metadata.labels;
        });
      }
      await run('disable', '--revision', 'green');
      assert.deepEqual(webhooksThere(), left);
      installTags();
      await run('disable', '--all');
      assert.deepEqual(webhooksThere(), ['injector-operator']);
    });

    it("leaves a tag of the revision's own name that leads elsewhere, and says where", async () => {
      installTags();
      const { out } = await run('disable', '--revision', 'default');
      assert.ok(webhooksThere().includes('sidecar-injector-default'));
      assert.ok(
        out.includes('tag default leads to revision green: name that to take it out of the way'),
        out.join('\n'),
      );
      await assert.rejects(
        run('disable', '--revision', 'prod'),
        /no webhook has the revision prod; .*tag prod leads to revision green: name that/,
      );
    });

    it('waits for the tags that lead to what is enabled', async () => {
      installTags();
      await run('disable', '--all');
      const ready = { conditions: [{ type: 'Ready', status: 'True' }], observedGeneration: 9 };
      for (const name of ['blue', 'second', 'default'])
        cluster.edit('injectorconfigs', name, undefined, (object) => {
          object.status = ready;
        });
      const tag = {
        apiVersion: 'sidecar-injector.io/v1alpha1',
        kind: 'RevisionTag',
        metadata: { name: 'prod' },
        spec: { revision: 'green' },
      };
      cluster.put('revisiontags', tag);
      const late = await run('enable', '--revision', 'green', '--timeout', '1');
      assert.equal(late.code, 1);
      assert.match(late.out.join(), /RevisionTag prod: not Ready after 1 s/);
      cluster.put('revisiontags', { ...tag, status: ready });
      assert.deepEqual((await run('enable', '--revision', 'green')).out.slice(-2), [
        'InjectorConfig second: Ready',
        'RevisionTag prod: Ready',
      ]);
      cluster.remove('revisiontags', 'prod');
    });
  });

  it('does nothing in a dry run but say what it would', async () => {
    install();
    assert.deepEqual(await run('disable', '--all', '--dry-run'), {
      code: 0,
      out: [
        'InjectorConfig blue: would be paused',
        'InjectorConfig second: would be paused',
        'MutatingWebhookConfiguration sidecar-injector-blue: would be deleted',
        'MutatingWebhookConfiguration sidecar-injector-second: would be deleted',
      ],
    });
    await run('disable', '--all');
    cluster.writes.length = 0;
    assert.deepEqual((await run('enable', '--all', '--dry-run')).out, [
      'InjectorConfig blue: would be resumed',
      'InjectorConfig second: would be resumed',
    ]);
    assert.deepEqual(changes(), []);
  });

  for (const command of ['disable', 'enable']) {
    it(`${command} wants exactly one of --revision and --all`, async () => {
      const message = /say which injectors: --revision NAME .* or --all/;
      await assert.rejects(run(command), { name: 'UsageError', message });
      await assert.rejects(run(command, '--all', '--revision', 'blue'), { name: 'UsageError', message });
    });

    it(`${command} names the revisions there are, and touches nothing`, async () => {
      install();
      const message = '--revision: no InjectorConfig and no webhook has the revision red; there are blue, green';
      await assert.rejects(run(command, '--revision', 'blue', 'red'), { message });
      assert.deepEqual(changes(), []);
    });

    it(`${command} says that there is nothing to do`, async () => {
      const { out, code } = await run(command, '--all');
      assert.match(out[0] ?? '', new RegExp(`^nothing to ${command}: `));
      assert.equal(code, 0);
      await assert.rejects(run(command, '--revision', 'red'), /there is none on this cluster/);
    });

    it(`${command} names the rights that are missing before it touches anything`, async () => {
      install();
      cluster.faults.push({
        matches: (_, path, body) => path.includes('selfsubjectaccessreviews') && body.includes('"patch"'),
        answer: (response) => {
          json(response, 201, { status: { allowed: false } });
        },
      });
      const message =
        'the user of this kubeconfig lacks the right to patch injectorconfigs.sidecar-injector.io; nothing was changed';
      await assert.rejects(run(command, '--all'), { message });
      assert.deepEqual(changes(), []);
    });
  }

  it('goes on where it may not ask for rights, and fails where the API server does not answer for itself', async () => {
    install();
    const answer = (code: number): void => {
      cluster.faults.push({
        matches: (_, path) => path.includes('selfsubjectaccessreviews'),
        answer: (response) => {
          failure(response, code, 'No', 'no');
        },
      });
    };
    answer(403);
    assert.equal((await run('disable', '--all', '--dry-run')).code, 0);
    cluster.faults.length = 0;
    answer(500);
    await assert.rejects(run('disable', '--all', '--dry-run'), /no/);
  });

  it('deletes webhooks also where their kind of InjectorConfig is gone; other errors end it', async () => {
    install();
    const answer = (code: number, reason: string): void => {
      cluster.faults.push({
        matches: (method, path) => method === 'GET' && path.includes('injectorconfigs'),
        answer: (response) => {
          failure(response, code, reason, 'no InjectorConfigs');
        },
      });
    };
    answer(500, 'InternalError');
    await assert.rejects(run('disable', '--all'), /no InjectorConfigs/);
    cluster.faults.length = 0;
    answer(404, 'NotFound');
    assert.equal((await run('disable', '--all')).code, 0);
    assert.deepEqual(webhooksThere(), ['injector-operator']);
  });

  it('deletes the webhook even if the pause is refused, and says what that means', async () => {
    install();
    cluster.faults.push({
      matches: (method, path) => method === 'PATCH' && path.includes('injectorconfigs'),
      answer: (response) => {
        failure(response, 422, 'Invalid', 'spec.webhook is invalid');
      },
    });
    const { out, code } = await run('disable', '--revision', 'blue');
    assert.equal(code, 1);
    assert.deepEqual(out, [
      'InjectorConfig blue: not paused: spec.webhook is invalid',
      'MutatingWebhookConfiguration sidecar-injector-blue: deleted',
      'not everything is done: what is not paused, a living operator installs again; what is not deleted, still stops pods',
    ]);
  });

  it('deletes again what an operator puts back that was writing it', async () => {
    install();
    cluster.faults.push({
      matches: (method, path) => method === 'DELETE' && path.endsWith('blue'),
      answer: (response) => {
        failure(response, 404, 'NotFound', 'gone');
      },
      times: 1,
    });
    const { out, code } = await run('disable', '--revision', 'blue');
    assert.equal(code, 0);
    assert.equal(out.filter((line) => line.endsWith('sidecar-injector-blue: deleted')).length, 2);
    assert.ok(!webhooksThere().includes('sidecar-injector-blue'));
  });

  it('names the finalizer that holds a webhook', async () => {
    install();
    cluster.edit('mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined, (object) => {
      object.metadata.finalizers = ['example.com/hold'];
    });
    const { out, code } = await run('disable', '--revision', 'blue');
    assert.equal(code, 1);
    assert.ok(
      out.includes(
        'MutatingWebhookConfiguration sidecar-injector-blue: still there: held by finalizers example.com/hold',
      ),
    );
    cluster.edit('mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined, (object) => {
      object.metadata.finalizers = [];
    });
  });

  it('gives up on a webhook that somebody makes again and again', async () => {
    install();
    cluster.faults.push({
      matches: (method, path) => method === 'DELETE' && path.endsWith('blue'),
      answer: (response) => {
        json(response, 200, {});
      },
    });
    const { out, code } = await run('disable', '--revision', 'blue');
    assert.equal(code, 1);
    assert.ok(out.some((line) => line.endsWith('sidecar-injector-blue: still there: somebody makes it again')));
  });

  const ready = (name: string, status: string, generation?: number): void => {
    cluster.edit('injectorconfigs', name, undefined, (object) => {
      object.status = {
        observedGeneration: generation ?? object.metadata.generation,
        conditions: [{ type: 'Ready', status, reason: 'NotReachable', message: 'refused' }],
      };
    });
  };

  it('enables, and waits until the operator has looked at it and it is Ready', async () => {
    install();
    await run('disable', '--all');
    ready('second', 'True', 99);
    const end = run('enable', '--all', '--timeout', '20');
    setTimeout(() => {
      ready('blue', 'True');
    }, 300);
    assert.deepEqual(await end, {
      code: 0,
      out: [
        'InjectorConfig blue: no longer paused',
        'InjectorConfig second: no longer paused',
        'InjectorConfig second: Ready',
        'InjectorConfig blue: Ready',
      ],
    });
    assert.equal(paused('blue'), undefined);
  });

  it('says why it is not Ready in time', async () => {
    install();
    assert.deepEqual(await run('enable', '--revision', 'blue', '--timeout', '0.1'), {
      code: 1,
      out: [
        'InjectorConfig blue: not paused',
        'InjectorConfig blue: not Ready after 0.1 s: no operator has looked at it; is one running?',
      ],
    });
    ready('blue', 'False');
    const { out } = await run('enable', '--revision', 'blue', '--timeout', '0.1');
    assert.equal(out.at(-1), 'InjectorConfig blue: not Ready after 0.1 s: NotReachable: refused');
    const end = run('enable', '--revision', 'blue', '--timeout', '0.5');
    setTimeout(() => {
      cluster.remove('injectorconfigs', 'blue');
    }, 200);
    assert.equal((await end).out.at(-1), 'InjectorConfig blue: not Ready after 0.5 s: it is gone');
  });

  it('does not wait when told so', async () => {
    install();
    assert.deepEqual(await run('enable', '--revision', 'blue', '--timeout', '0'), {
      code: 0,
      out: ['InjectorConfig blue: not paused'],
    });
  });

  for (const command of ['disable', 'enable']) {
    it(`${command} on the command line says what is wrong in one line`, async () => {
      const { errors, code } = await runCommand([command, '--all', '--kubeconfig', '/does/not/exist']);
      assert.match(errors, /^error: .*\/does\/not\/exist/);
      assert.ok(!errors.includes('\n'));
      assert.notEqual(code, 0);
      assert.equal((await runCommand([command])).code, 2);
    });
  }
});
