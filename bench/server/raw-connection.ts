import { connect, type TLSSocket } from 'node:tls';

/** A callback for an answer. The status is 0 if the connection broke before the answer's end. */
export type Answered = (status: number, bodyBytes: number) => void;

const headEnd = Buffer.from('\r\n\r\n');
const emptyBuffer = Buffer.alloc(0);

/**
 * An HTTP/1.1 connection of a load generator. To avoid measuring the client, it sends a request in
 * one write, parses only the head of an answer, and counts the bytes of the body.
 */
export class RawConnection {
  readonly #port: number;
  #socket: TLSSocket | undefined;
  #done: Answered | undefined;
  /** The received part of an incomplete head. */
  #head: Buffer = emptyBuffer;
  #status = 0;
  #bodyBytes = 0;
  /** The number of missing bytes of the body; undefined until the head is complete. */
  #left: number | undefined;
  #closes = false;

  constructor(port: number) {
    this.#port = port;
  }

  /** @throws the socket's error if no server accepts the connection */
  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.#port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] };
      const socket = connect(options, () => {
        socket.off('error', reject);
        socket.on('error', () => undefined);
        resolve();
      });
      socket.setNoDelay(true);
      socket.once('error', reject);
      socket.on('data', (chunk: Buffer) => {
        this.#receive(chunk);
      });
      socket.on('close', () => {
        if (this.#socket === socket) this.#socket = undefined;
        this.#finish(0);
      });
      this.#socket = socket;
    });
  }

  /** Sends one request at a time. Reopens a connection that the server has ended. */
  send(request: Buffer, done: Answered): void {
    this.#done = done;
    if (this.#socket?.writable === true) this.#socket.write(request);
    else {
      this.open().then(
        () => this.#socket?.write(request),
        () => {
          this.#finish(0);
        },
      );
    }
  }

  close(): void {
    this.#done = undefined;
    this.#socket?.destroy();
  }

  #receive(chunk: Buffer): void {
    if (this.#left !== undefined) {
      this.#count(chunk.length);
      return;
    }
    const head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    const end = head.indexOf(headEnd);
    if (end === -1) {
      this.#head = head;
      return;
    }
    const text = head.toString('latin1', 0, end);
    this.#status = Number(text.slice(9, 12));
    this.#bodyBytes = Number(/^content-length: (\d+)$/im.exec(text)?.[1] ?? 0);
    this.#closes = /^connection: close$/im.test(text);
    this.#left = this.#bodyBytes;
    this.#head = emptyBuffer;
    this.#count(head.length - end - headEnd.length);
  }

  #count(bytes: number): void {
    this.#left = (this.#left ?? 0) - bytes;
    if (this.#left > 0) return;
    if (this.#closes) {
      this.#socket?.destroy();
      this.#socket = undefined;
    }
    this.#finish(this.#status);
  }

  #finish(status: number): void {
    const done = this.#done;
    const bodyBytes = this.#bodyBytes;
    this.#done = undefined;
    this.#left = undefined;
    this.#head = emptyBuffer;
    done?.(status, bodyBytes);
  }
}
