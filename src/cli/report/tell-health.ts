import { exitCodes, type Terminal } from '../terminal.ts';
import { healthLines, isAlive, type OperatorHealth } from '../usage/operator-health.ts';
import type { OutputFormat } from './write-report.ts';

/**
 * Says first who keeps true what follows; exit status 1 when nobody does.
 * @param format programs get the same by the fields `unknownSince`; they read standard output
 */
export function tellHealth(terminal: Terminal, format: OutputFormat, health: OperatorHealth): void {
  const text = healthLines(health)
    .map((line) => `${line}\n`)
    .join('');
  if (format === 'table' && text !== '') terminal.out(`${text}\n`);
  else if (!isAlive(health)) terminal.error(text.trimEnd());
  if (!isAlive(health)) terminal.setExitCode(exitCodes.failure);
}
