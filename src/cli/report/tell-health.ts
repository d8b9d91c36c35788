import { exitCodes, type Terminal } from '../terminal.ts';
import { healthLines, isAlive, type OperatorHealth } from '../usage/operator-health.ts';
import type { OutputFormat } from './write-report.ts';

/** Prints the health before a table. In other formats, prints only problems, as errors. */
export function tellHealth(terminal: Terminal, format: OutputFormat, health: OperatorHealth): void {
  const lines = healthLines(health);
  if (format === 'table' && lines.length > 0) terminal.out([...lines, '']);
  else if (!isAlive(health)) terminal.error(lines);
  if (!isAlive(health)) terminal.setExitCode(exitCodes.failure);
}
