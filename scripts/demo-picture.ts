/** Runs `make demo`, and draws what it prints as docs/images/demo.svg (make screenshots). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { terminalPicture, type PrintedLine } from './site/terminal-picture.ts';

const started = Date.now();
const printed: PrintedLine[] = [{ at: 0, text: '$ make demo' }];
const demo = spawn('make', ['--silent', 'demo'], { stdio: ['ignore', 'pipe', 'inherit'] });
const closed = once(demo, 'close');
for await (const text of createInterface({ input: demo.stdout })) {
  // Paths of this machine are not worth reading.
  printed.push({ at: (Date.now() - started) / 1000, text: text.replaceAll(process.cwd(), '.') });
}
const [status] = (await closed) as [number | null];
if (status !== 0) throw new Error(`make demo ended with ${status}, so the picture stays as it was`);
const title = 'make demo: starts a Kubernetes API server and the operator, and shows a pod before and after injection';
writeFileSync('docs/images/demo.svg', terminalPicture(printed, title));
console.log(`docs/images/demo.svg: ${printed.length} lines in ${printed.at(-1)?.at.toFixed(1)} s`);
