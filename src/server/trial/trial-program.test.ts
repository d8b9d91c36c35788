import assert from 'node:assert/strict';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import { RecordingLog } from '../testdata/recording-log.ts';
import { someInjector } from '../testdata/some-injector.ts';
import { ConfigurationTrials } from './configuration-trials.ts';

const templates = (texts: Record<string, string>): ConfigurationFiles => ({
  ...someInjector.files,
  config: JSON.stringify({ policy: 'enabled', defaultTemplates: ['one'], templates: texts }),
});

/** Of 26 dicts each holds the one before it twice. */
const doubling = `{{ $d := dict "a" 1 }}${'{{ $d = dict "a" $d "b" $d }}'.repeat(26)}{{ $x := deepCopy $d }}spec: {}`;

describe('the program that tries configurations', function () {
  // A process starts from sources, on machines that may be busy.
  this.timeout(120_000);
  let trials: ConfigurationTrials;
  before(() => {
    trials = new ConfigurationTrials({ log: new RecordingLog(), clock: () => performance.now() });
  });
  after(() => trials.close());

  it('reads what is fine', async () => {
    const { config, settings } = await trials.try(someInjector.files);
    assert.deepEqual([...config.templates.keys()], ['hello']);
    assert.equal(settings.revision, 'default');
  });

  it('says what is wrong, and where', async () => {
    const broken = trials.try({ ...someInjector.files, config: 'policy: enabled\ntemplates: {a: "{{ if }}"}\n' });
    await assert.rejects(broken, { name: 'ConfigurationError', field: 'config.templates.a', message: /missing value/ });
  });

  const costly: [name: string, files: ConfigurationFiles, message: RegExp][] = [
    ['a template whose data doubles', templates({ one: doubling }), /limit of/],
    ['a template that no pod asks for', templates({ one: 'spec: {}', other: doubling }), /limit of/],
    [
      'a template that exceeds the bounds at every pod',
      templates({ one: '{{ range until 2000 }}{{ range until 2000 }}{{ end }}{{ end }}' }),
      /injects no pod at all: .*exceeded the limit/s,
    ],
  ];
  for (const [name, files, message] of costly) {
    it(`refuses ${name}, and goes on`, async () => {
      await assert.rejects(trials.try(files), { field: 'spec.injection', message });
      await trials.try(someInjector.files);
    });
  }

  it('takes a template that fails at our pods: it may be right for others', async () => {
    await trials.try(templates({ one: '{{ fail "not you" }}' }));
  });

  it('tries pods of the cluster where it is given some, which refuse nothing', async () => {
    const pod = { metadata: { name: 'web' }, spec: { containers: [{ name: 'web' }] } };
    const failing = templates({ one: '{{ fail "not you" }}' });
    const { rehearsal } = await trials.try(failing, [{ kind: 'Deployment shop/web', pod }]);
    assert.equal(rehearsal?.failure, undefined);
    assert.match(rehearsal?.warnings.join() ?? '', /fail for 1 of 1 .* Deployment shop\/web: .*not you/s);
  });
});
