/**
 * The part of Node's `node:crypto` that the engine uses, for browsers (FIPS 180-4). Browsers hash
 * only asynchronously, and only on secure origins.
 */
export function createHash(algorithm: keyof typeof hashes) {
  let bytes = new Uint8Array();
  const hash = {
    update(text: string | Uint8Array) {
      const more = typeof text === 'string' ? new TextEncoder().encode(text) : text;
      const joined = new Uint8Array(bytes.length + more.length);
      joined.set(bytes);
      joined.set(more, bytes.length);
      bytes = joined;
      return hash;
    },
    digest: (encoding: 'hex'): string => ({ hex: hashes[algorithm](bytes) })[encoding],
  };
  return hash;
}

const hashes = {
  sha1: (bytes: Uint8Array) => hashOfWords(bytes, sha1Start, sha1Block),
  sha256: (bytes: Uint8Array) => hashOfWords(bytes, sha256Start, sha256Block),
  sha512,
};

/** Adds the bit 1, zeros and the number of bits, up to a multiple of the block size. */
function padded(bytes: Uint8Array, block: number): DataView {
  const size = Math.ceil((bytes.length + 1 + block / 8) / block) * block;
  const result = new Uint8Array(size);
  result.set(bytes);
  result[bytes.length] = 0x80;
  const view = new DataView(result.buffer);
  view.setBigUint64(size - 8, BigInt(bytes.length) * 8n);
  return view;
}

type Block = (state: Uint32Array, at: (index: number) => number) => void;

function hashOfWords(bytes: Uint8Array, start: Uint32Array, block: Block): string {
  const state = start.slice();
  const view = padded(bytes, 64);
  for (let from = 0; from < view.byteLength; from += 64) block(state, (index) => view.getUint32(from + index * 4));
  return Array.from(state, (word) => word.toString(16).padStart(8, '0')).join('');
}

const left = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits));
const right = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

const sha1Start = Uint32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);

function sha1Block(state: Uint32Array, at: (index: number) => number): void {
  const words = new Uint32Array(80);
  for (let index = 0; index < 80; index += 1) {
    const [w3 = 0, w8 = 0, w14 = 0, w16 = 0] = [3, 8, 14, 16].map((back) => words[index - back] ?? 0);
    words[index] = index < 16 ? at(index) : left(w3 ^ w8 ^ w14 ^ w16, 1);
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0] = state;
  for (let index = 0; index < 80; index += 1) {
    const [mix, constant] =
      index < 20
        ? [(b & c) | (~b & d), 0x5a827999]
        : index < 40
          ? [b ^ c ^ d, 0x6ed9eba1]
          : index < 60
            ? [(b & c) | (b & d) | (c & d), 0x8f1bbcdc]
            : [b ^ c ^ d, 0xca62c1d6];
    const next = (left(a, 5) + mix + e + constant + (words[index] ?? 0)) | 0;
    [e, d, c, b, a] = [d, c, left(b, 30), a, next];
  }
  [a, b, c, d, e].forEach((word, index) => (state[index] = (state[index] ?? 0) + word));
}

/** The first 80 primes, from whose roots SHA-2 derives its constants. */
const primes = Array.from({ length: 410 }, (_, number) => number).filter(
  (number) =>
    number > 1 && !Array.from({ length: 20 }, (_, index) => index + 2).some((n) => n < number && number % n === 0),
);
const mask = 2n ** 64n - 1n;

/** Returns the first 64 bits of the fraction of a root. */
function fraction(prime: number, root: 2n | 3n): bigint {
  const target = BigInt(prime) << (64n * root);
  let result = 0n;
  for (let bit = 1n << 72n; bit > 0n; bit >>= 1n) if ((result | bit) ** root <= target) result |= bit;
  return result & mask;
}

const sha512Start = primes.slice(0, 8).map((prime) => fraction(prime, 2n));
const constants = primes.slice(0, 80).map((prime) => fraction(prime, 3n));
const sha256Start = Uint32Array.from(sha512Start, (word) => Number(word >> 32n));
const sha256Constants = Uint32Array.from(constants.slice(0, 64), (word) => Number(word >> 32n));

function sha256Block(state: Uint32Array, at: (index: number) => number): void {
  const words = new Uint32Array(64);
  for (let index = 0; index < 64; index += 1) {
    const [w2 = 0, w7 = 0, w15 = 0, w16 = 0] = [2, 7, 15, 16].map((back) => words[index - back] ?? 0);
    const s0 = right(w15, 7) ^ right(w15, 18) ^ (w15 >>> 3);
    const s1 = right(w2, 17) ^ right(w2, 19) ^ (w2 >>> 10);
    words[index] = index < 16 ? at(index) : w16 + s0 + w7 + s1;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let index = 0; index < 64; index += 1) {
    const s1 = right(e, 6) ^ right(e, 11) ^ right(e, 25);
    const t1 = h + s1 + ((e & f) ^ (~e & g)) + (sha256Constants[index] ?? 0) + (words[index] ?? 0);
    const s0 = right(a, 2) ^ right(a, 13) ^ right(a, 22);
    const t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => (state[index] = (state[index] ?? 0) + word));
}

const right64 = (word: bigint, bits: bigint): bigint => ((word >> bits) | (word << (64n - bits))) & mask;

function sha512(bytes: Uint8Array): string {
  const state = [...sha512Start];
  const view = padded(bytes, 128);
  for (let from = 0; from < view.byteLength; from += 128) {
    const words: bigint[] = [];
    for (let index = 0; index < 80; index += 1) {
      const [w2 = 0n, w7 = 0n, w15 = 0n, w16 = 0n] = [2, 7, 15, 16].map((back) => words[index - back]);
      const s0 = right64(w15, 1n) ^ right64(w15, 8n) ^ (w15 >> 7n);
      const s1 = right64(w2, 19n) ^ right64(w2, 61n) ^ (w2 >> 6n);
      words.push(index < 16 ? view.getBigUint64(from + index * 8) : (w16 + s0 + w7 + s1) & mask);
    }
    let [a = 0n, b = 0n, c = 0n, d = 0n, e = 0n, f = 0n, g = 0n, h = 0n] = state;
    for (let index = 0; index < 80; index += 1) {
      const s1 = right64(e, 14n) ^ right64(e, 18n) ^ right64(e, 41n);
      const t1 = h + s1 + ((e & f) ^ (~e & mask & g)) + (constants[index] ?? 0n) + (words[index] ?? 0n);
      const s0 = right64(a, 28n) ^ right64(a, 34n) ^ right64(a, 39n);
      const t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) & mask, c, b, a, (t1 + t2) & mask];
    }
    [a, b, c, d, e, f, g, h].forEach((word, index) => (state[index] = ((state[index] ?? 0n) + word) & mask));
  }
  return state.map((word) => word.toString(16).padStart(16, '0')).join('');
}
