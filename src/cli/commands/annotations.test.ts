import assert from 'node:assert/strict';
import { runCommand, sees } from '../testdata/recording-terminal.ts';
import { temporaryFolder } from '../testdata/temporary-folder.ts';

describe('injector annotations', () => {
  const { path, write } = temporaryFolder();
  const injectorConfig = (injection: object): string => {
    const kind = { apiVersion: 'sidecar-injector.io/v1alpha1', kind: 'InjectorConfig' };
    return write('config.yaml', JSON.stringify({ ...kind, metadata: { name: 'one' }, spec: { injection } }));
  };
  before(() => {
    write(
      'config',
      'policy: enabled\ntemplates: {sidecar: "{{ .ObjectMeta.Annotations.team }}{{ annotation .ObjectMeta `sidecar.istio.io/userVolume` `` }}"}\n',
    );
    write('allow.yaml', 'allow: [team]\n');
  });

  it('lists what authors may do with the labels that an InjectorConfig reads', async () => {
    const file = injectorConfig({ templates: { sidecar: '{{ if .ObjectMeta.Labels.debug }}x{{ end }}' } });
    sees(await runCommand(['annotations', '-c', file]), 0, {
      out: /^NAME {3,}OF {3,}KIND\ndebug {3,}label {3,}steering\n {2}authors may switch values on and off/,
    });
  });

  it('applies preset Safe to a directory', async () => {
    const { out, errors } = await runCommand(['annotations', '--config-dir', path()]);
    assert.match(
      out,
      /sidecar\.istio\.io\/userVolume +annotation +structural\n +authors may not use it, since it adds volumes; a pod with it is refused/,
    );
    assert.match(out, /team +annotation +scalar\n +authors may set a value/);
    assert.match(errors, /preset Istio allows all of these/);
  });

  it('applies allowed annotations, and prints JSON', async () => {
    const overrides = ['--annotation-overrides', path('allow.yaml')];
    const { out, errors } = await runCommand(['annotations', '--config-dir', path(), ...overrides, '-o', 'json']);
    assert.equal(errors, '');
    const of = { of: 'annotation' };
    assert.deepEqual(JSON.parse(out), [
      { ...of, name: 'sidecar.istio.io/userVolume', kind: 'structural', allowed: false, why: 'it adds volumes' },
      { ...of, name: 'team', kind: 'scalar', allowed: true },
    ]);
  });

  const uses: [template: string, allow: string[], line: RegExp][] = [
    [
      '{{ .ObjectMeta.Annotations.team }}',
      ['team'],
      /\nteam +annotation +scalar\n +authors may do anything, since it is allowed \(.*\)\n/,
    ],
    ['{{ .ObjectMeta.Annotations.team }}', [], /\nteam +annotation +scalar\n +authors may set a value/],
    ['{{ fromJSON .ObjectMeta.Annotations.team }}', [], /\nteam +annotation +parsed\n +authors may change values/],
    ['x', [], /^the templates read no annotations or labels/],
  ];
  for (const [template, allow, line] of uses) {
    it(`lists the uses in ${template} if annotations [${allow.join()}] are allowed`, async () => {
      const file = injectorConfig({ templates: { sidecar: template }, annotationOverrides: { allow } });
      const { out, errors, code } = await runCommand(['annotations', '-c', file]);
      assert.equal(code, 0);
      assert.match(out === '' ? errors : out, line);
    });
  }

  it('reports missing options', async () => {
    sees(await runCommand(['annotations']), 2, { errors: /--config FILE .* or --config-dir DIRECTORY/ });
  });
});
