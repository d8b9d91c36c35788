import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

const terminalModule = new URL('./terminal.ts', import.meta.url).href;

interface Ended {
  readonly out: string;
  readonly errors: string;
  readonly code: number | null;
}

/** Runs statements in a new process with its `terminal`; standard input is a pipe. */
async function inProcess(statements: string, input = ''): Promise<Ended> {
  const script = `import { processTerminal as terminal } from ${JSON.stringify(terminalModule)};\n${statements}`;
  const argv = [...process.execArgv, '--input-type=module', '--eval', script];
  const child = spawn(process.execPath, argv, { stdio: 'pipe' });
  child.stdin.end(input);
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { out, errors, code: child.exitCode };
}

/** Simulates a user at standard input. */
const atTerminal = 'process.stdin.isTTY = true;\n';

describe('processTerminal', () => {
  it('reads standard input, writes text and error lines, and sets the exit code', async () => {
    const input = 'ä€😀'.repeat(50_000);
    const statements = `terminal.document(await terminal.readInput()); terminal.document('b'); terminal.error('c'); terminal.setExitCode(3);`;
    const { out, errors, code } = await inProcess(statements, input);
    assert.ok(out === `${input}b`);
    assert.deepEqual([errors, code], ['c\n', 3]);
  });

  const answers: [title: string, statements: string, input: string, out: string, errors: string][] = [
    ['returns the line of the user', atTerminal, 'y\nmore\n', '"y"', 'Go on? '],
    ['returns an empty line when the user closes the input', atTerminal, '', '""', 'Go on? '],
    ['returns undefined without a question when standard input is not a terminal', '', 'y\n', 'undefined', ''],
  ];
  for (const [title, statements, input, out, errors] of answers) {
    it(`ask: ${title}`, async () => {
      const ask = `terminal.document(String(JSON.stringify(await terminal.ask('Go on? '))));`;
      assert.deepEqual(await inProcess(statements + ask, input), { out, errors, code: 0 });
    });
  }

  it('returns the screen, and undefined for a pipe', async () => {
    const print = 'terminal.document(JSON.stringify(terminal.screen() ?? null));';
    assert.equal((await inProcess(print)).out, 'null');
    const screen = 'Object.assign(process.stdout, { isTTY: true, columns: 80, rows: 24 });';
    assert.equal((await inProcess(screen + print)).out, '{"columns":80,"rows":24}');
  });

  const interruptions: [title: string, interrupt: string][] = [
    ['SIGINT', `process.kill(process.pid, 'SIGINT');`],
    ['SIGTERM', `process.kill(process.pid, 'SIGTERM');`],
    ['a closed pipe', `process.stdout.emit('error', new Error('EPIPE'));`],
  ];
  const waiting = `const alive = setTimeout(() => process.exit(9), 10_000);\n`;
  for (const [title, interrupt] of interruptions) {
    it(`calls back once at ${title}`, async () => {
      const statements = `${waiting}terminal.onInterrupt(() => { clearTimeout(alive); terminal.error('interrupted'); });\n${interrupt}`;
      const { errors, code } = await inProcess(statements);
      assert.deepEqual([errors, code], ['interrupted\n', 0]);
    });
  }

  it('does not call back after it was stopped', async () => {
    const statements = `process.stdout.on('error', () => terminal.error('broken'));
      const stop = terminal.onInterrupt(() => terminal.error('interrupted'));
      stop();
      process.stdout.emit('error', new Error('EPIPE'));
      terminal.document(String(process.listenerCount('SIGINT') + process.listenerCount('SIGTERM')));`;
    const { out, errors } = await inProcess(statements);
    assert.deepEqual([out, errors], ['0', 'broken\n']);
  });
});
