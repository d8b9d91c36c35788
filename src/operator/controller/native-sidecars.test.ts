import assert from 'node:assert/strict';
import { configurationHash } from '../../api/injector-config/configuration-hash.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { nativeSidecarsAnnotation } from '../../api/names.ts';
import { configurationFiles } from '../../manifests/configuration-files.ts';
import { configurationObjects } from '../../manifests/desired-objects.ts';
import { context, eachTest, injectorConfig } from '../testdata/operator-fixture.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

const proxy = (image: string): string => `spec:\n  containers:\n  - name: istio-proxy\n    image: ${image}\n`;
const spec = { injection: { templates: { sidecar: proxy('one') } } };

describe('RevisionReconciler: native sidecars', () => {
  const fixture = eachTest(new RevisionFixture());

  /** Replaces the nodes by one for each kubelet version. */
  const useNodes = async (...versions: string[]): Promise<void> => {
    const { cluster, view } = fixture;
    for (const name of cluster.names('nodes')) cluster.remove('nodes', name);
    for (const [index, kubeletVersion] of versions.entries())
      cluster.put('nodes', {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: `node-${index}` },
        status: { nodeInfo: { kubeletVersion } },
      });
    await fixture.until(() => {
      const known = view.kubelets().map((node) => node.kubeletVersion);
      return known.sort().join() === [...versions].sort().join();
    });
  };
  const published = () => {
    const [, mode] = / with native sidecars (\w+)$/.exec(fixture.condition('blue', 'TemplatesValid')) ?? [];
    return [fixture.hash('blue'), mode];
  };
  const events = () => fixture.events().filter((event) => event.startsWith('Published')).length;
  const recordedMode = (hash: string) =>
    fixture.cluster.get('configmaps', `sidecar-injector-blue-${hash}`, 'injection')?.metadata.annotations?.[
      nativeSidecarsAnnotation
    ];

  it('keeps the mode when the last old kubelet goes, offers native sidecars, and takes them with an edit', async () => {
    await useNodes('v1.33.0', 'v1.32.4');
    await fixture.install('blue', spec);
    const [hash, mode] = published();
    assert.equal(mode, 'Disabled');
    assert.equal(fixture.condition('blue', 'NativeSidecarsAvailable'), 'none');
    await fixture.recorded(/^Published/);
    const count = events();

    await useNodes('v1.33.0', 'v1.34.1');
    await fixture.reconcile('blue');
    assert.deepEqual(published(), [hash, 'Disabled']);
    fixture.says('blue', 'NativeSidecarsAvailable', /^True\/KubeletsReady: .*nativeSidecars to Enabled$/);
    await fixture.edit('blue', { webhook: { timeoutSeconds: 7 } });
    assert.deepEqual(published(), [hash, 'Disabled'], 'the webhook is no part of the configuration');
    assert.equal(events(), count);

    await fixture.render('blue', proxy('two'));
    const [native, taken] = published();
    assert.notEqual(native, hash);
    assert.equal(taken, 'Enabled');
    await fixture.recorded(new RegExp(`^Published: .*${native}`));
    fixture.says('blue', 'NativeSidecarsAvailable', /^False\/NotOffered/);

    await useNodes('v1.33.0', 'v1.32.4');
    await fixture.reconcile('blue');
    assert.deepEqual(published(), [native, 'Enabled'], 'a kubelet that runs native sidecars changes nothing');
    await useNodes('v1.33.0', 'v1.28.9');
    await fixture.reconcile('blue');
    const [ended, without] = published();
    assert.notEqual(ended, native);
    assert.equal(without, 'Disabled');
    await useNodes('v1.33.0');
    await fixture.reconcile('blue');
    assert.deepEqual(published(), [ended, 'Disabled']);
    fixture.says('blue', 'NativeSidecarsAvailable', /^True/);
  });

  it('takes native sidecars with nativeSidecars: Enabled, and keeps them with Auto', async () => {
    await useNodes('v1.32.0');
    await fixture.install('blue', spec);
    const [hash] = published();
    await fixture.edit('blue', { injection: { ...spec.injection, nativeSidecars: 'Enabled' } });
    const [native, mode] = published();
    assert.notEqual(native, hash);
    assert.equal(mode, 'Enabled');
    await fixture.edit('blue', spec);
    assert.deepEqual(published(), [native, 'Enabled']);
  });

  /** Stores what an earlier release has published: a configuration with mode Auto. */
  const installAsBefore = (): string => {
    const config = parseInjectorConfig(injectorConfig('blue', spec));
    const files = configurationFiles(config);
    const hash = configurationHash(files);
    const [hashed, plain] = configurationObjects(config, files, hash, context);
    for (const object of [hashed, plain]) if (object !== undefined) fixture.cluster.put('configmaps', object);
    fixture.cluster.put('injectorconfigs', { ...injectorConfig('blue', spec), status: { config: { hash } } });
    return hash;
  };

  for (const [version, mode] of [
    ['v1.33.0', 'Enabled'],
    ['v1.32.0', 'Disabled'],
  ] as const) {
    it(`keeps hash and mode ${mode} in an upgrade of the operator, and under new leaders`, async () => {
      const hash = installAsBefore();
      await useNodes(version);
      await fixture.reconcile('blue');
      assert.deepEqual(published(), [hash, mode]);
      assert.equal(recordedMode(hash), mode);

      await useNodes(mode === 'Enabled' ? 'v1.32.0' : 'v1.33.0');
      fixture.kill();
      fixture.restart();
      await fixture.view.synced(fixture.signal);
      await fixture.reconcile('blue');
      assert.deepEqual(published(), [hash, mode]);
      assert.equal(recordedMode(hash), mode);

      // Another client cannot change the mode for long.
      fixture.cluster.edit('configmaps', `sidecar-injector-blue-${hash}`, 'injection', ({ metadata }) => {
        metadata.annotations = { [nativeSidecarsAnnotation]: 'none' };
      });
      await fixture.until(
        () =>
          recordedMode(hash) === 'none' &&
          fixture.view.configMaps
            .list()
            .some((each) => each.metadata.annotations?.[nativeSidecarsAnnotation] === 'none'),
      );
      await fixture.reconcile('blue');
      assert.equal(recordedMode(hash), mode);

      await fixture.render('blue', proxy('two'));
      const [next, after] = published();
      assert.notEqual(next, hash);
      assert.equal(after, 'Enabled', 'both an edit on new kubelets and a mode in use lead to native sidecars');
      assert.equal(recordedMode(next ?? ''), undefined);
    });
  }

  it('keeps the mode if its configuration is lost', async () => {
    await useNodes('v1.32.0');
    await fixture.install('blue', spec);
    const before = published();
    fixture.kill();
    for (const name of fixture.cluster.names('configmaps')) fixture.cluster.remove('configmaps', name, 'injection');
    fixture.cluster.edit('nodes', 'node-0', undefined, (node) => {
      node.status = { nodeInfo: { kubeletVersion: 'v1.33.0' } };
    });
    fixture.restart();
    await fixture.view.synced(fixture.signal);
    await fixture.reconcile('blue');
    assert.deepEqual(published(), before);
  });
});
