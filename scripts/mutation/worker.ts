/**
 * Runs the unit tests of a copy of `src` with one mutant at a time, and sends each result to
 * mutation.ts. Calls the tests directly, because they have no hooks, and Mocha starts slowly.
 */
import Mocha from 'mocha';

/** The task of a worker. */
export interface MutationTask {
  readonly files: readonly string[];
  readonly ids: readonly number[];
  /** Whether the only mutant is active while the files load. */
  readonly fresh: boolean;
}

/** A sign of life, or the result of a mutant with the test files that reach the mutant. */
export type MutationAnswer =
  'alive' | { readonly id: number; readonly killed: boolean; readonly files: readonly string[] };

const { files, ids, fresh } = JSON.parse(process.argv[2]!) as MutationTask;
let active = fresh ? ids[0] : undefined;
/** The mutants that are reached while the files load. */
const atLoading = new Set<number>();
let reached = atLoading;
const isActive = (id: number): boolean => id === active;
const isActiveAndKnown = (id: number): boolean => {
  reached.add(id);
  return id === active;
};
Object.assign(globalThis, { $m: fresh ? isActive : isActiveAndKnown });

async function loadTests(from: readonly string[]): Promise<Mocha.Test[]> {
  const mocha = new Mocha();
  for (const file of from) mocha.addFile(file);
  await mocha.loadFilesAsync();
  const tests: Mocha.Test[] = [];
  mocha.suite.eachTest((test: Mocha.Test) => tests.push(test));
  return tests;
}

async function fails(test: Mocha.Test): Promise<boolean> {
  try {
    await (test.fn as Mocha.AsyncFunc).call(test.ctx!);
    return false;
  } catch {
    return true;
  }
}

/** Returns the first test that fails with a mutant. */
async function firstFailing(tests: readonly Mocha.Test[], mutant: number): Promise<Mocha.Test | undefined> {
  active = mutant;
  let reported = Date.now();
  for (const test of tests) {
    if (await fails(test)) return test;
    if (Date.now() - reported < 1000) continue;
    reported = Date.now();
    process.send!('alive');
  }
  return undefined;
}

async function answer(id: number, killed: boolean, reaching: readonly string[]): Promise<void> {
  const message: MutationAnswer = { id, killed, files: reaching };
  await new Promise((resolve) => process.send!(message, resolve));
}

async function tryAll(): Promise<void> {
  const tests = new Map((await loadTests(files)).map((test) => [test, new Set<number>()]));
  for (const [test, own] of tests) {
    reached = own;
    if (!(await fails(test))) continue;
    console.error(`a test fails without a mutant: ${test.fullTitle()}`);
    process.exit(2);
  }
  Object.assign(globalThis, { $m: isActive });
  process.send!('alive');
  for (const id of ids) {
    const reaching = [...tests].filter(([, own]) => own.has(id)).map(([test]) => test);
    const failing = await firstFailing(reaching, id);
    active = undefined;
    const reachingFiles = atLoading.has(id) ? files : [...new Set(reaching.map(({ file }) => file!))];
    await answer(id, failing !== undefined, reachingFiles);
    // If the test still fails without the mutant, the process has cached state: end it.
    if (failing !== undefined && (await fails(failing))) return;
  }
}

async function tryFresh(id: number): Promise<void> {
  for (const file of files) {
    const tests = await loadTests([file]).catch(() => undefined);
    if (tests === undefined || (await firstFailing(tests, id)) !== undefined) return answer(id, true, files);
  }
  return answer(id, false, files);
}

await (fresh ? tryFresh(ids[0]!) : tryAll());
process.exit();
