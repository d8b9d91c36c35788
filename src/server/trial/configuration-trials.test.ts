import assert from 'node:assert/strict';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import { RecordingLog } from '../testdata/recording-log.ts';
import { someInjector } from '../testdata/some-injector.ts';
import { ConfigurationTrials } from './configuration-trials.ts';
import type { TrialLimits } from './trial-process.ts';

/** A process that does as a configuration's values say. */
const scripted = `
  const { serialize } = require('node:v8');
  process.on('disconnect', () => process.exit());
  process.on('message', ({ files }) => {
    const [script, times] = files.values.split(' ');
    if (script === 'loop') for (;;);
    if (script === 'work') { const end = process.cpuUsage().user + times * 1000; while (process.cpuUsage().user < end); }
    if (script === 'abort') process.abort();
    if (script === 'kill') process.kill(process.pid, 'SIGKILL');
    if (script === 'exit') process.exit(3);
    if (script === 'gather') { const all = []; for (;;) all.push(new Array(1000).fill({ a: 1 })); }
    if (script === 'large') [new Array(3e7).fill({})].concat(new Array(3e7).fill({}));
    if (script === 'mistake') process.send({ kind: 'refused', field: 'config', message: 'config: no', isCostly: false });
    else process.send({ kind: 'fine', configuration: serialize({ read: files.values }) });
  });
  process.send({ kind: 'ready' });
`;
const files = (values: string): ConfigurationFiles => ({ ...someInjector.files, values });

describe('ConfigurationTrials', function () {
  // Processes start, on machines that may be busy.
  this.timeout(60_000);
  let trials: ConfigurationTrials;
  let outcomes: string[];
  let log: RecordingLog;

  function start(limits: Partial<TrialLimits> = {}, source = scripted): void {
    log = new RecordingLog();
    outcomes = [];
    trials = new ConfigurationTrials({
      log,
      clock: () => performance.now(),
      observer: (outcome) => outcomes.push(outcome),
      limits: { processorTimes: [100, 300], heapMebibytes: 24, ...limits },
      program: { source, isText: true },
    });
  }
  afterEach(() => trials.close());
  const attempt = (values: string): Promise<unknown> => trials.try(files(values));

  const costly: [values: string, message: RegExp, outcomes: string[]][] = [
    ['loop', /configuration takes longer than the limit of 300 ms to parse, compile and render/, ['put off', 'costly']],
    ['gather', /takes more than the limit of 24 MiB to parse, compile and render/, ['costly']],
    ['large', /takes more than the limit of 24 MiB/, ['costly']],
    ['abort', /takes more than the limit of 24 MiB/, ['costly']],
    ['kill', /takes more than the limit of 24 MiB/, ['costly']],
    ['exit', /crashes the trial process/, ['costly']],
  ];
  for (const [values, message, expected] of costly) {
    it(`refuses a configuration at which the process comes to "${values}", remembers it, and goes on`, async () => {
      start({ processorTimes: values === 'loop' ? [100, 300] : [20_000, 20_000] });
      await assert.rejects(attempt(values), { name: 'ConfigurationError', field: 'spec.injection', message });
      assert.deepEqual(outcomes, expected);
      assert.deepEqual(await attempt('fine'), { read: 'fine' });
      await assert.rejects(attempt(values), { message });
      assert.deepEqual(outcomes, [...expected, 'fine']);
    });
  }

  it('says what is wrong with a configuration that is a mistake', async () => {
    start();
    await assert.rejects(attempt('mistake'), { name: 'ConfigurationError', field: 'config', message: 'config: no' });
    assert.deepEqual(outcomes, ['mistake']);
  });

  it('puts off what takes long until all else that waits has been tried', async () => {
    start({ processorTimes: [100, 20_000] });
    const order: string[] = [];
    const follow = async (values: string, pods?: []): Promise<void> => {
      await trials.try(files(values), pods);
      order.push(pods === undefined ? values : 'pods');
    };
    await Promise.all([follow('work 300'), follow('a', []), follow('a'), follow('work 400'), follow('b')]);
    assert.deepEqual(order, ['a', 'b', 'pods', 'work 300', 'work 400'], 'nobody waits for pods of the cluster');
    assert.deepEqual(outcomes, ['put off', 'fine', 'put off', 'fine', 'fine', 'fine', 'fine']);
  });

  it('hands over what was read, tried once for all who ask at the same time', async () => {
    start();
    const [first, second] = await Promise.all([attempt('a'), attempt('a')]);
    assert.deepEqual(first, { read: 'a' });
    assert.equal(first, second);
    assert.deepEqual(outcomes, ['fine']);
  });

  it('blames the machine, and tries again when asked, where the process does not start', async () => {
    start({}, 'process.exit(1)');
    const refusal = { name: 'Error', message: /could not be tried: the process .* does not start/ };
    await assert.rejects(attempt('a'), refusal);
    await assert.rejects(attempt('a'), refusal);
    assert.deepEqual(outcomes, ['not tried', 'not tried']);
  });

  it('blames the machine where the process gets no time', async () => {
    start({ patience: 300 }, 'process.on("message", () => undefined); process.send({ kind: "ready" });');
    await assert.rejects(attempt('a'), { name: 'Error', message: /gets no CPU time/ });
    assert.deepEqual(outcomes, ['not tried']);
  });

  it('fails what runs and what waits when it is closed, and tries nothing any more', async () => {
    start({ processorTimes: [20_000, 20_000] });
    const all = [attempt('loop'), attempt('a')];
    const ended = { name: 'Error', message: /this process stops/ };
    await Promise.all([...all.map((each) => assert.rejects(each, ended)), trials.close()]);
    await assert.rejects(attempt('b'), { name: 'Error', message: /this process stops/ });
  });

  it('ends a process that has nothing to do, and starts one when there is something', async () => {
    start({ idle: 20 });
    for (const values of ['a', 'b']) {
      assert.deepEqual(await attempt(values), { read: values });
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    assert.deepEqual(outcomes, ['fine', 'fine']);
  });
});

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
      /cannot inject any pod: .*exceeded the limit/s,
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
