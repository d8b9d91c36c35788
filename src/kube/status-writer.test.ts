import assert from 'node:assert/strict';
import { writeStatus } from './status-writer.ts';

const object = {
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: 'x', namespace: 'n', resourceVersion: '7', labels: { a: 'b' } },
  status: { phase: 'Good', list: [1] },
};

describe('writeStatus', () => {
  const writes: unknown[] = [];
  const client = {
    apply: <T>(body: T, options: object): Promise<T> => {
      writes.push([body, options]);
      return Promise.resolve(body);
    },
  };
  beforeEach(() => (writes.length = 0));

  it('writes nothing if nothing changed, and treats absent and undefined fields as equal', async () => {
    const same = { list: [1], phase: 'Good', more: undefined };
    assert.equal(await writeStatus(client, object, same, { fieldManager: 'us' }), undefined);
    assert.equal(await writeStatus(client, { ...object, status: undefined }, {}, { fieldManager: 'us' }), undefined);
    assert.deepEqual(writes, []);
  });

  it('writes the whole status to the version that was read', async () => {
    assert.ok(await writeStatus(client, object, { phase: 'Bad' }, { fieldManager: 'us' }));
    const metadata = { name: 'x', namespace: 'n', resourceVersion: '7' };
    assert.deepEqual(writes, [
      [
        { apiVersion: 'v1', kind: 'X', metadata, status: { phase: 'Bad' } },
        { fieldManager: 'us', force: true, subresource: 'status' },
      ],
    ]);
  });
});
