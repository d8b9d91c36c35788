import assert from 'node:assert/strict';
import { type Answer, EngineClient, type EngineWorker, type Question } from './engine-client.ts';

class FakeWorker implements EngineWorker {
  readonly questions: Question[] = [];
  isTerminated = false;
  onmessage: EngineWorker['onmessage'] = null;
  onerror: EngineWorker['onerror'] = null;
  postMessage(question: Question): void {
    this.questions.push(question);
  }
  terminate(): void {
    this.isTerminated = true;
  }
}

const texts = { config: '', pod: '' };
const explained = { explained: { missing: 'a pod' } };
const problems = { problems: [] };

function setUp(deadline = 60_000) {
  const workers: FakeWorker[] = [];
  const told: (Answer | { readonly stopped: number })[] = [];
  const client = new EngineClient(() => {
    const worker = new FakeWorker();
    workers.push(worker);
    return worker;
  }, deadline);
  const ask = (): FakeWorker => {
    client.ask(texts, (answer) => told.push(answer));
    return workers.at(-1) as FakeWorker;
  };
  return { workers, told, ask };
}

describe('EngineClient', () => {
  it('keeps the worker after complete answers', () => {
    const { workers, told, ask } = setUp();
    for (const id of [1, 2]) {
      const worker = ask();
      worker.onmessage?.({ data: { id, ...explained } });
      worker.onmessage?.({ data: { id, ...problems } });
    }
    assert.equal(workers.length, 1);
    assert.deepEqual(
      told,
      [1, 2].flatMap((id) => [
        { id, ...explained },
        { id, ...problems },
      ]),
    );
  });

  it('replaces a worker that answers a question that is no longer asked', () => {
    const { workers, told, ask } = setUp();
    const first = ask();
    const second = ask();
    assert.deepEqual([first.isTerminated, second.isTerminated, workers.length], [true, false, 2]);
    first.onmessage?.({ data: { id: 1, ...explained } });
    second.onmessage?.({ data: { id: 1, ...explained } });
    assert.deepEqual(
      told.filter((each) => 'id' in each && each.id === 2),
      [],
    );
    second.onmessage?.({ data: { id: 2, failure: 'broken' } });
    assert.deepEqual(told.at(-1), { id: 2, failure: 'broken' });
    assert.equal(ask(), second);
    second.onmessage?.({ data: { id: 3, ...problems } });
  });

  it('stops a worker at the deadline of each part', async () => {
    const { workers, told, ask } = setUp(20);
    const worker = ask();
    worker.onmessage?.({ data: { id: 1, ...explained } });
    await new Promise((resolve) => setTimeout(resolve, 60));
    assert.deepEqual(told, [{ id: 1, ...explained }, { stopped: 20 }]);
    assert.equal(worker.isTerminated, true);
    ask().onmessage?.({ data: { id: 2, ...problems } });
    assert.deepEqual([workers.length, told.length], [2, 3]);
  });

  it('replaces a worker that failed', () => {
    const { workers, told, ask } = setUp();
    ask().onerror?.({});
    ask().onerror?.({ message: 'out of memory' });
    assert.deepEqual(told, [
      { id: 1, failure: 'the engine failed' },
      { id: 2, failure: 'out of memory' },
    ]);
    assert.ok(workers.every(({ isTerminated }) => isTerminated));
  });
});
