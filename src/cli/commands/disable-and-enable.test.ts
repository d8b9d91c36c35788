import assert from 'node:assert/strict';
import { json } from '../../kube/testdata/fake-api-server.ts';
import { runCommand } from '../testdata/recording-terminal.ts';
import { SwitchCluster } from '../testdata/switch-cluster.ts';

describe('injector disable and enable', () => {
  let cluster: SwitchCluster;
  beforeEach(async () => {
    cluster = new SwitchCluster();
    await cluster.start();
  });
  afterEach(() => cluster.stop());

  for (const command of ['disable', 'enable']) {
    it(`${command} wants exactly one of --revision and --all`, async () => {
      const message = /say which injectors: --revision NAME .* or --all/;
      await assert.rejects(cluster.run(command), { name: 'UsageError', message });
      await assert.rejects(cluster.run(command, '--all', '--revision', 'blue'), { name: 'UsageError', message });
    });

    it(`${command} names the revisions there are, and touches nothing`, async () => {
      cluster.install();
      const message = '--revision: no InjectorConfig and no webhook has the revision red; there are blue, green';
      await assert.rejects(cluster.run(command, '--revision', 'blue', 'red'), { message });
      assert.deepEqual(cluster.changes, []);
    });

    it(`${command} says that there is nothing to do`, async () => {
      const { out, code } = await cluster.run(command, '--all');
      assert.match(out[0] ?? '', new RegExp(`^nothing to ${command}: `));
      assert.equal(code, 0);
      await assert.rejects(cluster.run(command, '--revision', 'red'), /there is none on this cluster/);
    });

    it(`${command} names the rights that are missing before it touches anything`, async () => {
      cluster.install();
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
