/** Runs the unit tests of a copy of `src` with one mutant after the other, as scripts/mutation.ts asks, and tells it what became of each. */
import Mocha from 'mocha';

/** What a worker is asked. */
export interface MutationTask {
  readonly files: readonly string[];
  readonly ids: readonly number[];
  /** The only mutant is there while the files are loaded. */
  readonly fresh: boolean;
}

/** That a test begins, or what became of a mutant, and the files whose tests reach it. */
export type MutationAnswer =
  'test' | { readonly id: number; readonly killed: boolean; readonly files: readonly string[] };

const { files, ids, fresh } = JSON.parse(process.argv[2]!) as MutationTask;
let active = fresh ? ids[0] : undefined;
/** Mutants that are reached while files are loaded, and by hooks. */
const everywhere = new Set<number>();
let reached = everywhere;
const tests = new Map<string, { readonly reached: Set<number>; readonly file: string }>();
Object.assign(globalThis, {
  $m: (id: number): boolean => {
    reached.add(id);
    return id === active;
  },
});

const mocha = new Mocha({ timeout: 30_000, reporter: watch as unknown as string });
mocha.cleanReferencesAfterRun(false);
for (const file of files) mocha.addFile(file);

function watch(runner: Mocha.Runner): void {
  runner.on('hook', () => (reached = everywhere));
  runner.on('test', (test) => {
    process.send!('test');
    const known = tests.get(test.fullTitle()) ?? { reached: new Set<number>(), file: test.file ?? '' };
    tests.set(test.fullTitle(), known);
    ({ reached } = known);
  });
}

/** Runs tests; the title of one that failed. */
async function run(mutant: number | undefined, isWanted: (title: string) => boolean): Promise<string | undefined> {
  active = mutant;
  mocha.bail(mutant !== undefined).grep({ test: isWanted } as unknown as RegExp);
  let failed: string | undefined;
  await new Promise((resolve) => mocha.run(resolve).on('fail', (test) => (failed ??= test.fullTitle())));
  active = undefined;
  return failed;
}

async function answer(id: number, killed: boolean, reaching: readonly string[]): Promise<void> {
  const message: MutationAnswer = { id, killed, files: reaching };
  await new Promise((resolve) => process.send!(message, resolve));
}

async function tryAll(): Promise<void> {
  await mocha.loadFilesAsync();
  const broken = await run(undefined, () => true);
  if (broken !== undefined) {
    console.error(`without a mutant this fails: ${broken}`);
    process.exit(2);
  }
  for (const id of ids) {
    const reaching = [...tests].filter(([, test]) => test.reached.has(id));
    const titles = new Set(reaching.map(([title]) => title));
    const failed = titles.size === 0 ? undefined : await run(id, (title) => titles.has(title));
    await answer(
      id,
      failed !== undefined,
      everywhere.has(id) ? files : [...new Set(reaching.map(([, { file }]) => file))],
    );
    // What failed must work without the mutant: else something remembers it, and another process goes on.
    if (failed !== undefined && (await run(undefined, (title) => title === failed)) !== undefined) return;
  }
}

async function tryFresh(id: number): Promise<void> {
  const isLoaded = await mocha.loadFilesAsync().then(
    () => true,
    () => false,
  );
  await answer(id, !isLoaded || (await run(id, () => true)) !== undefined, files);
}

await (fresh ? tryFresh(ids[0]!) : tryAll());
process.exit();
