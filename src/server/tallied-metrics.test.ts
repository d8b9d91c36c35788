import assert from 'node:assert/strict';
import { Histogram, Registry } from 'prom-client';
import { TalliedCounter } from './tallied-counter.ts';
import { TalliedHistogram } from './tallied-histogram.ts';

describe('tallied metrics', () => {
  it('are counted once, however often somebody scrapes', async () => {
    const registry = new Registry();
    const counter = new TalliedCounter({ name: 'a_total', help: 'A.', labelNames: ['path'], registers: [registry] });
    assert.equal(counter.increment('x'), false);
    counter.introduce('x', { path: 'x' });
    assert.equal(counter.increment('x'), true);
    await registry.metrics();
    counter.increment('x');
    for (let scrape = 0; scrape < 2; scrape++) assert.match(await registry.metrics(), /^a_total\{path="x"\} 3$/m);
  });

  const values = [0, 0.5, 0.1, 0.1001, 1, 2, 5.5, -1];
  for (const path of ['', 'revision']) {
    it(`show what prom-client's own histogram shows, ${path === '' ? 'without a label' : 'by path'}`, async () => {
      const [ours, theirs] = [new Registry(), new Registry()];
      const shape = { name: 'seconds', help: 'Seconds.', buckets: [0.1, 0.5, 2] };
      const tallied = new TalliedHistogram({ ...shape, byPath: path !== '', registers: [ours] });
      const histogram = new Histogram({ ...shape, labelNames: path === '' ? [] : ['path'], registers: [theirs] });
      assert.equal(await ours.metrics(), await theirs.metrics());
      for (const value of values) {
        tallied.note(path, value);
        if (path === '') histogram.observe(value);
        else histogram.observe({ path }, value);
      }
      assert.equal(await ours.metrics(), await theirs.metrics());
      assert.deepEqual(
        (await tallied.get()).values.map(({ value }) => value),
        (await histogram.get()).values.map(({ value }) => value),
      );
    });
  }
});
