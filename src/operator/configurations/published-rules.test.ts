import assert from 'node:assert/strict';
import type { TryConfiguration } from '../ports.ts';
import { PassMemory } from '../controller/pass-context.ts';
import { type PublishedRules, publishedRules, type RulesMemory } from './published-rules.ts';
import { context, eachTest, loadAtOnce } from '../testdata/operator-fixture.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

describe('PublishedRules', () => {
  const fixture = eachTest(new RevisionFixture());
  let trials: number;
  let rules: PublishedRules;
  beforeEach(async () => {
    trials = 0;
    const tryOne: TryConfiguration = (files) => {
      trials += 1;
      return loadAtOnce(files);
    };
    await fixture.install();
    await fixture.caughtUp();
    rules = publishedRules(fixture.view, context.namespace, tryOne, new PassMemory<RulesMemory>());
  });

  it('tries the published configuration once, and returns its rules', async () => {
    assert.equal((await rules.get('blue'))?.policy, 'enabled');
    await rules.get('blue');
    assert.equal(trials, 1);
  });

  it('returns new rules after another configuration is published', async () => {
    await rules.get('blue');
    await fixture.edit('blue', { injection: { policy: 'disabled', templates: { sidecar: 'spec: {}' } } });
    await fixture.caughtUp();
    assert.equal((await rules.get('blue'))?.policy, 'disabled');
    assert.equal(trials, 2);
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
    assert.equal(trials, 0);
  });
});
