import assert from 'node:assert/strict';
import { place, strategyOf } from './testdata/situation.ts';
import { TagHistory } from './testdata/tag-history.ts';
import { noWorkload } from '../routing/workload-key.ts';

const shadowFirst = strategyOf([{ weight: 0, shadow: true }, { weight: 5 }]);

describe('A shadow step', () => {
  const changed = ['spec.containers[a].image'];
  const report = (compared: number, failed = 0) => ({ compared, failed, differing: 1, changed });

  it('gives nobody the canary, and goes on once enough pods were compared', () => {
    const tag = new TagHistory(shadowFirst);
    assert.equal(tag.see(0), 'Shadowing/StepStarted');
    const { shadow, weight, threshold, canary } = tag.now;
    assert.deepEqual([shadow, weight, threshold, canary], [true, 0, noWorkload, place('1-25')]);
    assert.equal(tag.see(1), 'Shadowing/ComparingPods');
    assert.equal(tag.see(2, { shadow: report(2) }), 'Shadowing/ComparingPods');
    assert.match(tag.now.message, /compared for 2 of 3 pods/);
    assert.equal(tag.due, undefined);
    assert.equal(tag.see(3, { shadow: report(3) }), 'Progressing/StepStarted');
    assert.deepEqual([tag.now.shadow, tag.now.weight, tag.now.shadowBefore], [false, 5, undefined]);
    assert.deepEqual(tag.now.shadowReport, report(3), 'what was found stays to be read');
  });

  it('is rolled back by the first failure, with its error', () => {
    const tag = TagHistory.begun(shadowFirst);
    const error = 'line 3: no such field';
    assert.equal(tag.see(1, { shadow: { ...report(2, 1), error } }), 'RolledBack/ShadowFailed');
    assert.match(tag.now.message, /it failed for 1 of 2 pods that the stable revision accepts: line 3: no such field$/);
    assert.equal(tag.now.shadowReport?.error, error);
  });

  it('says so without an error, too', () => {
    const tag = TagHistory.begun(shadowFirst);
    tag.see(1, { shadow: report(2, 2) });
    assert.match(tag.now.message, /for 2 of 2 pods that the stable revision accepts$/);
  });

  it('does not count what was compared before it', () => {
    const tag = new TagHistory(shadowFirst);
    tag.see(0, { shadow: report(10, 4) });
    assert.equal(tag.see(1, { shadow: report(12, 4) }), 'Shadowing/ComparingPods');
    assert.deepEqual([tag.now.shadowReport?.compared, tag.now.shadowReport?.failed], [2, 0]);
    assert.equal(tag.see(2, { shadow: report(13, 4) }), 'Progressing/StepStarted');
  });

  it('counts anew when a replica that had counted is gone', () => {
    const tag = new TagHistory(shadowFirst);
    tag.see(0, { shadow: report(10, 4) });
    assert.equal(tag.see(1, { shadow: report(1) }), 'Shadowing/ComparingPods');
    assert.equal(tag.see(2, { shadow: report(11, 1) }), 'RolledBack/ShadowFailed');
  });

  it('sees a failure even when its replica has compared no less than before', () => {
    const tag = new TagHistory(shadowFirst);
    tag.see(0, { shadow: report(10, 4) });
    assert.equal(tag.see(1, { shadow: report(12, 3) }), 'RolledBack/ShadowFailed');
  });

  it('whose record of before was lost counts everything', () => {
    const tag = new TagHistory(shadowFirst);
    tag.see(0, { shadow: report(10) });
    delete tag.now.shadowBefore;
    tag.see(1, { shadow: report(10) });
    assert.equal(tag.now.shadowReport?.compared, 10);
  });

  it('pauses like any other', () => {
    const tag = TagHistory.begun(strategyOf([{ weight: 0, shadow: true, pause: '1m' }]));
    assert.equal(tag.see(5, { shadow: report(3) }), 'Paused/Pause');
    assert.equal(tag.due, 65);
    assert.equal(tag.see(65, { shadow: report(3) }), 'Promoted/Promoted');
  });
});
