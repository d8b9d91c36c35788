/** For mocha's workers: records the seconds of each test file. A worker runs one file at a time. */
import { account, cpuSecondsOf } from '../test/account.ts';

interface Suite {
  readonly file?: string;
  readonly suites: readonly Suite[];
}

const isWorker = process.send !== undefined;
const cpuSeconds = (): number | undefined => {
  const seconds = cpuSecondsOf('self');
  return seconds === undefined ? undefined : seconds.own + seconds.ended;
};
/** When the file before ended. The time after it includes the imports of the next file. */
let before = { at: performance.now(), cpuSeconds: 0 };

export const mochaHooks = {
  beforeAll(): void {
    before.at = performance.now();
  },
  afterAll(this: { test: { parent: Suite } }): void {
    if (!isWorker) return;
    const { file = '' } = this.test.parent.suites[0] ?? {};
    const used = cpuSeconds();
    const name = file.slice(file.lastIndexOf('/src/') + 1);
    const seconds = (performance.now() - before.at) / 1000;
    account({
      kind: 'test file',
      name,
      seconds,
      cpuSeconds: used === undefined ? undefined : used - before.cpuSeconds,
    });
    before = { at: performance.now(), cpuSeconds: used ?? 0 };
  },
};
