import assert from 'node:assert/strict';
import type { LoadConfiguration } from '../ports.ts';
import { PassMemory } from '../controller/pass-context.ts';
import { type PublishedRules, publishedRules, type RulesMemory } from './published-rules.ts';
import { context, eachTest, loadAtOnce } from '../testdata/operator-fixture.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

describe('PublishedRules', () => {
  const fixture = eachTest(new RevisionFixture());
  let loads: number;
  let rules: PublishedRules;
  beforeEach(async () => {
    loads = 0;
    const load: LoadConfiguration = (files) => {
      loads += 1;
      return loadAtOnce(files);
    };
    await fixture.install();
    await fixture.caughtUp();
    rules = publishedRules(fixture.view, context.namespace, load, new PassMemory<RulesMemory>());
  });

  it('loads the published configuration once, and returns its rules', async () => {
    assert.equal((await rules.get('blue'))?.policy, 'enabled');
    await rules.get('blue');
    assert.equal(loads, 1);
  });

  it('returns new rules after another configuration is published', async () => {
    await rules.get('blue');
    await fixture.edit('blue', { injection: { policy: 'disabled', templates: { sidecar: 'spec: {}' } } });
    await fixture.caughtUp();
    assert.equal((await rules.get('blue'))?.policy, 'disabled');
    assert.equal(loads, 2);
  });

  it('returns no rules if there is no webhook, or if the hash of the configuration is wrong', async () => {
    assert.equal(await rules.get('red'), undefined);
    for (const name of fixture.cluster.names('configmaps')) {
      fixture.cluster.edit('configmaps', name, context.namespace, (object) => {
        object.data = { ...(object.data as object), config: 'policy: disabled' };
      });
    }
    await fixture.caughtUp();
    assert.equal(await rules.get('blue'), undefined);
    assert.equal(loads, 0);
  });
});
