import assert from 'node:assert/strict';
import { ApiError } from '../../kube/api-error.ts';
import { RestartWriter } from './restart-writer.ts';
import { workload } from './testdata/workloads.ts';
import { recordOfWorkload } from './workload-record.ts';

describe('RestartWriter', () => {
  let now = 0;
  const clock = { now: () => new Date(now), monotonic: () => now };
  const never = new AbortController().signal;
  const restart = (writer: RestartWriter, name: string) =>
    writer.restart(recordOfWorkload(workload('Deployment', name)), 'prod', 'new.00000002', never);

  it('leaves very many that are refused for longer, so that the others are tried in between', async () => {
    const client = {
      apply: () => Promise.reject(new ApiError({ code: 403, reason: 'Forbidden', message: 'policy says no' })),
    };
    const writer = new RestartWriter({ client, clock });
    const isHeld = (name: string): boolean =>
      writer.refusalOf({ namespace: 'shop', kind: 'Deployment', name }) !== undefined;
    assert.equal(await restart(writer, 'w0'), undefined);
    now += 59_999;
    assert.equal(isHeld('w0'), true);
    now += 1;
    assert.equal(isHeld('w0'), false);
    for (let index = 0; index < 100; index += 1) await restart(writer, `w${index}`);
    now += 199_999;
    assert.equal(isHeld('w0'), true);
    now += 1;
    assert.equal(isHeld('w0'), false);
  });
});
