/** Bytes. Up to here the pieces are kept as they come, and put together at the end in no time. */
const smallBody = 1024 * 1024;

/**
 * The pieces of a body, put together as they arrive: to join 19 MiB at the end would hold up everybody else and need all of it twice.
 * The memory grows with what has come, not with what was declared.
 */
export class BodyPieces {
  readonly #expectedBytes: number;
  #pieces: Buffer[] = [];
  #joined: Buffer | undefined;
  #length = 0;

  /** @param expectedBytes as declared; where nothing is, the most that may come */
  constructor(expectedBytes: number) {
    this.#expectedBytes = expectedBytes;
  }

  /** Bytes that have come. */
  get length(): number {
    return this.#length;
  }

  add(piece: Buffer): void {
    const before = this.#length;
    this.#length += piece.length;
    if (this.#length <= smallBody) {
      this.#pieces.push(piece);
      return;
    }
    if (this.#joined === undefined || this.#joined.length < this.#length) this.#grow(before);
    this.#joined?.set(piece, before);
  }

  /** The whole body. A declared one that has come to its end is alone in its memory, which can be handed to another thread. */
  whole(): Buffer {
    if (this.#joined !== undefined) return this.#joined.subarray(0, this.#length);
    const [only] = this.#pieces;
    return only !== undefined && this.#pieces.length === 1 ? only : Buffer.concat(this.#pieces, this.#length);
  }

  /** Lets go of everything. */
  drop(): void {
    this.#pieces = [];
    this.#joined = undefined;
  }

  /** Twice as much each time, so that all copies together are no more than the body, and none takes long. */
  #grow(filled: number): void {
    const size = Math.max(this.#length, Math.min(2 * this.#length, this.#expectedBytes));
    const larger = Buffer.allocUnsafeSlow(size);
    if (this.#joined === undefined) {
      let at = 0;
      for (const piece of this.#pieces) {
        larger.set(piece, at);
        at += piece.length;
      }
      this.#pieces = [];
    } else larger.set(this.#joined.subarray(0, filled));
    this.#joined = larger;
  }
}
