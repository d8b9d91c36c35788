import assert from 'node:assert/strict';
import { deserialize } from 'node:v8';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import type { ReadConfiguration } from '../../inject/configuration/read-configuration.ts';
import { typicalPods } from '../../inject/rehearsal/typical-pods.ts';
import { RecordingLog } from '../testdata/recording-log.ts';
import { someInjector } from '../testdata/some-injector.ts';
import { ConfigurationTrials } from './configuration-trials.ts';
import type { TrialLimits } from './trial-process.ts';
import { type ToTrial, tryConfiguration } from './try-configuration.ts';

/** A process that follows a script in the configuration's values. */
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
  // Processes start slowly on busy machines.
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
    it(`refuses a configuration with script "${values}", caches the refusal, and continues`, async () => {
      start({ processorTimes: values === 'loop' ? [100, 300] : [20_000, 20_000] });
      await assert.rejects(attempt(values), { name: 'ConfigurationError', field: 'spec.injection', message });
      assert.deepEqual(outcomes, expected);
      assert.deepEqual(await attempt('fine'), { read: 'fine' });
      await assert.rejects(attempt(values), { message });
      assert.deepEqual(outcomes, [...expected, 'fine']);
    });
  }

  it('rejects with the mistake of a configuration', async () => {
    start();
    await assert.rejects(attempt('mistake'), { name: 'ConfigurationError', field: 'config', message: 'config: no' });
    assert.deepEqual(outcomes, ['mistake']);
  });

  it('puts off slow trials until all other trials have ended', async () => {
    start({ processorTimes: [100, 20_000] });
    const order: string[] = [];
    const follow = async (values: string, pods?: []): Promise<void> => {
      await trials.try(files(values), pods);
      order.push(pods === undefined ? values : 'pods');
    };
    await Promise.all([follow('work 300'), follow('a', []), follow('a'), follow('work 400'), follow('b')]);
    assert.deepEqual(order, ['a', 'b', 'pods', 'work 300', 'work 400'], 'pods of the cluster come last');
    assert.deepEqual(outcomes, ['put off', 'fine', 'put off', 'fine', 'fine', 'fine', 'fine']);
  });

  it('returns the parsed configuration, and runs one trial for concurrent callers', async () => {
    start();
    const [first, second] = await Promise.all([attempt('a'), attempt('a')]);
    assert.deepEqual(first, { read: 'a' });
    assert.equal(first, second);
    assert.deepEqual(outcomes, ['fine']);
  });

  it('reports `not tried` if the process does not start, and tries again on the next call', async () => {
    start({}, 'process.exit(1)');
    const refusal = { name: 'Error', message: /could not be tried: the trial process does not start/ };
    await assert.rejects(attempt('a'), refusal);
    await assert.rejects(attempt('a'), refusal);
    assert.deepEqual(outcomes, ['not tried', 'not tried']);
  });

  it('reports `not tried` if the process gets no CPU time', async () => {
    start({ patience: 300 }, 'process.on("message", () => undefined); process.send({ kind: "ready" });');
    await assert.rejects(attempt('a'), { name: 'Error', message: /gets no CPU time/ });
    assert.deepEqual(outcomes, ['not tried']);
  });

  it('rejects running, waiting and later trials when it is closed', async () => {
    start({ processorTimes: [20_000, 20_000] });
    const all = [attempt('loop'), attempt('a')];
    const ended = { name: 'Error', message: /this process stops/ };
    await Promise.all([...all.map((each) => assert.rejects(each, ended)), trials.close()]);
    await assert.rejects(attempt('b'), { name: 'Error', message: /this process stops/ });
  });

  it('ends an idle process, and starts a new process on demand', async () => {
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

/** 26 dicts, each of which contains the previous dict twice. */
const doubling = `{{ $d := dict "a" 1 }}${'{{ $d = dict "a" $d "b" $d }}'.repeat(26)}{{ $x := deepCopy $d }}spec: {}`;

describe('tryConfiguration', () => {
  it('returns injected pods unless the trial is brief, and typical pods only if they fit', () => {
    const files = templates({ one: 'spec: {containers: [{name: one, image: example.com/one}]}' });
    const podsOf = (asked: Partial<ToTrial>): number | undefined => {
      const answer = tryConfiguration({ files, isBrief: false, maxAnswerBytes: 1 << 20, ...asked });
      assert.ok(answer.kind === 'fine', JSON.stringify(answer));
      return (deserialize(answer.configuration) as ReadConfiguration).rehearsal?.injected?.length;
    };
    const pods = typicalPods('sidecar.istio.io/inject').slice(0, 2);
    assert.deepEqual([podsOf({}), podsOf({ pods }), podsOf({ isBrief: true })], [11, 2, undefined]);
    const maxAnswerBytes = 4000;
    assert.equal(podsOf({ maxAnswerBytes }), undefined);
    const refused = tryConfiguration({ files, pods, isBrief: false, maxAnswerBytes });
    assert.ok(refused.kind === 'refused' && refused.isCostly);
  });
});

describe('a brief trial', () => {
  const limited = '{{ range until 20000 }}{{ range until 20000 }}{{ end }}{{ end }}';
  const answerTo = (other: string) =>
    tryConfiguration({ files: templates({ one: 'spec: {}', other }), isBrief: true, maxAnswerBytes: 1 << 20 });

  it('refuses an additional template that exceeds the limits for every pod', () => {
    const answer = answerTo(limited);
    assert.ok(answer.kind === 'refused' && answer.isCostly);
    assert.match(answer.message, /cannot inject any pod: .*exceeded the limit/s);
  });

  it('accepts an additional template that exceeds the limits for some pods', () => {
    assert.equal(answerTo(`{{ if gt (len .Spec.Containers) 1 }}${limited}{{ end }}spec: {}`).kind, 'fine');
    assert.equal(answerTo('{{ fail "not you" }}').kind, 'fine');
  });
});

describe('the program of the trial process', function () {
  // Starting the process from sources is slow on busy machines.
  this.timeout(120_000);
  let trials: ConfigurationTrials;
  before(() => {
    trials = new ConfigurationTrials({ log: new RecordingLog(), clock: () => performance.now() });
  });
  after(() => trials.close());

  it('accepts a valid configuration', async () => {
    const { config, settings } = await trials.try(someInjector.files);
    assert.deepEqual([...config.templates.keys()], ['hello']);
    assert.equal(settings.revision, 'default');
  });

  it('reports a mistake and its position', async () => {
    const broken = trials.try({ ...someInjector.files, config: 'policy: enabled\ntemplates: {a: "{{ if }}"}\n' });
    await assert.rejects(broken, { name: 'ConfigurationError', field: 'config.templates.a', message: /missing value/ });
  });

  const costly: [name: string, files: ConfigurationFiles, message: RegExp][] = [
    ['a template whose data doubles', templates({ one: doubling }), /limit of/],
    ['a template that no pod uses', templates({ one: 'spec: {}', other: doubling }), /limit of/],
    [
      'a template that exceeds the limits for every pod',
      templates({ one: '{{ range until 2000 }}{{ range until 2000 }}{{ end }}{{ end }}' }),
      /cannot inject any pod: .*exceeded the limit/s,
    ],
  ];
  for (const [name, files, message] of costly) {
    it(`refuses ${name}, and continues`, async () => {
      await assert.rejects(trials.try(files), { field: 'spec.injection', message });
      await trials.try(someInjector.files);
    });
  }

  it('accepts a template that fails for typical pods, because it may work for other pods', async () => {
    await trials.try(templates({ one: '{{ fail "not you" }}' }));
  });

  it('renders pods from the cluster, and accepts a configuration that fails for these pods', async () => {
    const pod = { metadata: { name: 'web' }, spec: { containers: [{ name: 'web' }] } };
    const failing = templates({ one: '{{ fail "not you" }}' });
    const { rehearsal } = await trials.try(failing, [{ kind: 'Deployment shop/web', pod }]);
    assert.equal(rehearsal?.failure, undefined);
    assert.match(rehearsal?.warnings.join() ?? '', /fail for 1 of 1 .* Deployment shop\/web: .*not you/s);
  });
});
