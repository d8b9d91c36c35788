import type { LogPort } from '../ports.ts';

/** A log that records its lines. */
export class RecordingLog implements LogPort {
  readonly lines: { level: string; message: string; fields: Readonly<Record<string, unknown>> }[] = [];

  readonly error = this.#at('error');
  readonly warn = this.#at('warn');
  readonly info = this.#at('info');
  readonly debug = this.#at('debug');

  #at(level: string) {
    return (message: string, fields: Record<string, unknown> = {}): void => {
      this.lines.push({ level, message, fields });
    };
  }
}
