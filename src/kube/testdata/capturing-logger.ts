import type { Logger } from '../ports.ts';

export interface CapturedLine {
  level: string;
  message: string;
  fields: Record<string, unknown> | undefined;
}

/** A logger that keeps its lines for assertions. */
export function capturingLogger(): Logger & { lines: CapturedLine[] } {
  const lines: CapturedLine[] = [];
  const at = (level: string) => (message: string, fields?: Record<string, unknown>) => {
    lines.push({ level, message, fields });
  };
  return { lines, error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}
