import assert from 'node:assert/strict';
import type { ConfigurationFiles } from '../../api/configuration-files.ts';
import { readConfigurationAtOnce } from '../../inject/configuration/read-configuration.ts';
import { inject } from '../../inject/inject.ts';
import { someInjector } from '../testdata/some-injector.ts';
import { ConfigurationLoader } from './configuration-loader.ts';

function loader(clock = (): number => performance.now()) {
  const readElsewhere: ConfigurationFiles[] = [];
  const made = new ConfigurationLoader({
    clock,
    readElsewhere: (files) => {
      readElsewhere.push(files);
      return Promise.resolve(readConfigurationAtOnce(files));
    },
    slices: { work: 0, busy: 0, patience: 0, rest: 0, lately: 0 },
  });
  return { readElsewhere, load: (files: ConfigurationFiles) => made.load(files) };
}
const pod = { metadata: {}, spec: { containers: [] } };
const withConfig = (config: string): ConfigurationFiles => ({ ...someInjector.files, config });

describe('ConfigurationLoader', () => {
  it('loads with the bounds of the thread that answers', async () => {
    const injector = await loader().load(
      withConfig('policy: enabled\ntemplates: {sidecar: "{{ range until 50000 }}{{ . }}{{ end }}"}\n'),
    );
    const result = inject(injector, { pod, namespace: 'shop' });
    assert.equal(result.outcome === 'failed' && result.reason, 'TemplateLimit');
  });

  it('lets others have a turn', async () => {
    let turns = 0;
    let isLoading = true;
    const turn = (): void => {
      turns++;
      if (isLoading) setImmediate(turn);
    };
    turn();
    await loader().load(withConfig(`policy: enabled\ntemplates: {sidecar: "${'{{ .Values }}'.repeat(500)}"}\n`));
    isLoading = false;
    assert.ok(turns > 20, `${turns} turns`);
  });

  it('has large configurations read elsewhere', async () => {
    const { readElsewhere, load } = loader();
    const large = { ...someInjector.files, values: JSON.stringify({ large: 'x'.repeat(200_000) }) };
    await load(someInjector.files);
    const injector = await load(large);
    assert.deepEqual(readElsewhere, [large]);
    assert.deepEqual(injector.templateNames, ['hello']);
    assert.equal(injector.files, large);
  });

  it('loads one after the other, and goes on after a mistake', async () => {
    const { load } = loader();
    const order: string[] = [];
    const follow = async (name: string, config: string): Promise<void> => {
      await load(withConfig(config)).then(
        () => order.push(name),
        (error: unknown) => order.push(error instanceof Error ? error.name : ''),
      );
    };
    const long = `policy: enabled\ntemplates: {sidecar: "${'{{ .Values }}'.repeat(500)}"}\n`;
    await Promise.all([follow('first', long), follow('second', 'policy: ['), follow('third', 'policy: enabled')]);
    assert.deepEqual(order, ['first', 'ConfigurationError', 'third']);
  });

  it('loads the first one once more, for practice, unless there is another one to load', async () => {
    let readings = 0;
    const quiet = async (): Promise<void> => {
      for (let before = -1; before !== readings;) {
        before = readings;
        for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const countingLoader = (): ((config: string) => Promise<number>) => {
      const { load } = loader(() => readings++);
      return async (config) => {
        const before = readings;
        await load(withConfig(config));
        return readings - before;
      };
    };
    const config = `policy: enabled\ntemplates: {sidecar: "${'{{ .Values }}'.repeat(500)}"}\n`;
    const patient = countingLoader();
    await patient(config);
    const loaded = readings;
    await quiet();
    assert.ok(readings > loaded + 20, `${readings - loaded} readings of the clock after the first load`);
    const plain = await patient(config);
    const loadedAgain = readings;
    await quiet();
    assert.equal(readings, loadedAgain);

    const hasty = countingLoader();
    await hasty(config);
    const second = await hasty(config);
    assert.ok(second < 1.2 * plain, `${second} readings instead of ${plain}: it waited for the rehearsal`);
  });

  it('loads what a trial shows to inject nothing: that is for others to judge', async () => {
    const injector = await loader().load(withConfig('policy: enabled\ntemplates: {sidecar: "{{ fail .Values }}"}\n'));
    assert.deepEqual(injector.templateNames, ['sidecar']);
  });
});
