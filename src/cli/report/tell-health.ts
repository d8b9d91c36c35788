import { exitCodes, type Terminal } from '../terminal.ts';
import { healthLines, isAlive, type OperatorHealth } from '../usage/operator-health.ts';
import type { OutputFormat } from './write-report.ts';

/** Prints the health before a table. In other formats, prints only problems, as errors. */
export function tellHealth(terminal: Terminal, format: OutputFormat, health: OperatorHealth): void {
  const text = healthLines(health)
    .map((line) => `${line}\n`)
    .join('');
  if (format === 'table' && text !== '') terminal.out(`${text}\n`);
  else if (!isAlive(health)) terminal.error(text.trimEnd());
  if (!isAlive(health)) terminal.setExitCode(exitCodes.failure);
}
