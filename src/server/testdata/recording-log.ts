import type { LogPort } from '../ports.ts';

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A log that keeps what it is given. */
export class RecordingLog implements LogPort {
  readonly lines: LogLine[] = [];

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
