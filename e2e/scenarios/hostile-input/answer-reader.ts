import type { Outcome } from './hostile-class.ts';

/** Reads HTTP answers from the bytes of a connection, and what they say. */
export class AnswerReader {
  /** Of the answers that are complete. */
  readonly answers: Outcome[] = [];
  /** Whether the connection may be used again after the last answer. */
  keepsOpen = false;
  readonly #withoutBody: boolean;
  #text = '';

  constructor(withoutBody: boolean) {
    this.#withoutBody = withoutBody;
  }

  push(piece: Buffer): void {
    this.#text += piece.toString('latin1');
    while (this.#readOne());
  }

  #readOne(): boolean {
    const end = this.#text.indexOf('\r\n\r\n');
    if (end === -1) return false;
    const head = this.#text.slice(0, end);
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1];
    if (status === undefined) {
      this.answers.push('not HTTP');
      this.#text = '';
      return false;
    }
    const rest = this.#text.slice(end + 4);
    const length = this.#withoutBody ? 0 : bodyLength(head, rest);
    if (length === undefined || rest.length < length) return false;
    this.#text = rest.slice(length);
    this.keepsOpen = !/\r\nconnection: close/i.test(head) && this.#text === '';
    this.answers.push(status === '200' ? `200 ${verdict(rest.slice(0, length))}` : status);
    return true;
  }
}

/** Bytes of the body as they are on the wire; undefined when they are not all there. */
function bodyLength(head: string, rest: string): number | undefined {
  const declared = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (declared !== undefined) return Number(declared);
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return 0;
  const end = rest.indexOf('0\r\n\r\n');
  return end === -1 ? undefined : end + 5;
}

function verdict(text: string): string {
  let response: { allowed?: unknown; patch?: unknown; status?: { reason?: unknown; message?: unknown } } | undefined;
  try {
    response = (JSON.parse(text) as { response?: typeof response }).response;
  } catch {
    return 'not JSON';
  }
  if (response?.allowed === true) return response.patch === undefined ? 'allowed' : 'patched';
  if (response?.allowed !== false) return 'no verdict';
  const { reason, message } = response.status ?? {};
  // A refusal without a reason, and a defect of ours that was caught, are not what anybody should get.
  if (reason === 'Internal') return `internal error: ${String(message)}`;
  return typeof message === 'string' && message !== '' ? 'refused' : 'refused without a reason';
}
