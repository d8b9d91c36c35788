import { framed, head, hostile, type Head, type HostileTarget, type Materials } from '../materials.ts';

/** Returns the head of a request without a length, followed by a text. */
function unframed(target: HostileTarget, options: Head, text: string) {
  return { bytes: Buffer.from(`${head(target, options)}\r\n${text}`, 'latin1') };
}

/** Returns a valid review with the given header lines for the length. */
function withLength(random: Materials, target: HostileTarget, lines: (length: number) => string[]) {
  const text = random.healthyText();
  return unframed(target, { headers: lines(Buffer.byteLength(text)) }, text);
}

function inChunks(target: HostileTarget, ...chunks: readonly string[]) {
  return unframed(target, { headers: ['Transfer-Encoding: chunked'] }, chunks.join(''));
}

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

export const framing = [
  // The text after the declared length is an invalid request. The server then closes the
  // connection, possibly before the first answer.
  hostile('length-too-short', ['400', '200 refused then 400'], (random, target) => {
    // The text must not begin like a method or an empty line, which may precede a request.
    const text = random.healthyText();
    const short = 40 + random.below(60);
    const rest = `\u0001${text.slice(short)}`;
    return { bytes: Buffer.concat([framed(target, text.slice(0, short)), Buffer.from(rest)]), answers: 'all' };
  }),
  // The rest never arrives, because the client has closed the connection.
  hostile('length-too-long-then-gone', ['400', 'closed'], (random, target) => ({
    ...withLength(random, target, (length) => [`Content-Length: ${length + 1 + random.below(1000)}`]),
    thenEnd: true,
  })),
  // The body must arrive within the timeout of the request.
  hostile('length-too-long-and-waiting', '408', (random, target) => {
    const text = random.healthyText();
    const headers = [`Content-Length: ${text.length + 1 + random.below(1000)}`];
    return unframed(target, { path: `${target.path}?timeout=${20 + random.below(60)}ms`, headers }, text);
  }),
  hostile('lengths-that-are-none', '400', (random, target) =>
    withLength(random, target, (length) => {
      const spelled = [
        `-${length}`,
        `+${length}`,
        `0x${length.toString(16)}`,
        `${length}.0`,
        `${length}e0`,
        `${length},`,
      ];
      const others = [`${length} ${length}`, random.word(), '9'.repeat(20 + random.below(40)), '"0"', ''];
      return [`Content-Length: ${random.pick([...spelled, ...others])}`];
    }),
  ),
  hostile('two-lengths', '400', (random, target) =>
    withLength(random, target, (length) =>
      random.pick([
        [`Content-Length: ${length}`, `Content-Length: ${length + 1 + random.below(9)}`],
        [`Content-Length: ${length}`, `content-length: ${length}`],
        [`Content-Length: ${length}, ${length}`],
      ]),
    ),
  ),
  // Request smuggling: a proxy may use either length (RFC 9112, section 6.1).
  hostile('length-and-chunks', '400', (random, target) => {
    const headers = [`Content-Length: ${random.below(2000)}`, 'Transfer-Encoding: chunked'];
    if (random.chance(0.5)) headers.reverse();
    return unframed(target, { headers }, `${chunk(random.healthyText())}0\r\n\r\n`);
  }),
  hostile('unknown-transfer-encodings', '400', (random, target) => {
    const names = ['gzip', 'identity', random.word()];
    const encoding = random.pick([...names, ...names.map((name) => `chunked, ${name}`), 'xchunked', 'chunked; q=1']);
    return unframed(target, { headers: [`Transfer-Encoding: ${encoding}`] }, `${chunk(random.healthyText())}0\r\n\r\n`);
  }),
  hostile('chunk-sizes-that-are-none', '400', (random, target) => {
    const size = random.pick(['-1', 'zz', '0x10', '+5', 'FFFFFFFFFFFFFFFFFF', `${random.word()}!`, '', '1 2']);
    return inChunks(target, `${size}\r\n${random.healthyText()}\r\n0\r\n\r\n`);
  }),
  hostile('chunks-longer-than-their-size', '400', (random, target) => {
    const text = random.healthyText();
    return inChunks(target, `${(text.length - 1 - random.below(50)).toString(16)}\r\n${text}\r\n0\r\n\r\n`);
  }),
  hostile('chunks-without-line-ends', '400', (random, target) =>
    inChunks(target, chunk(random.healthyText()).replaceAll('\r\n', random.pick(['\n', '\r', '']))),
  ),
  // The rest never arrives, because the client has closed the connection.
  hostile('chunks-without-the-last', ['400', 'closed'], (random, target) => ({
    ...inChunks(target, chunk(random.healthyText())),
    thenEnd: true,
  })),
  hostile('chunk-extensions-without-end', '400', (random, target) =>
    inChunks(target, `5;${random.word(12)}=${random.word(16).repeat(1100 + random.below(300))}\r\nhello\r\n0\r\n\r\n`),
  ),
  // The server ignores trailers, but bounds their size. The review before them is complete.
  hostile('trailers-without-end', ['431', '400'], (random, target) => {
    const trailer = `X-${random.word()}: ${random.word(16).repeat(1100 + random.below(300))}`;
    return inChunks(target, chunk(random.healthyText()), `0\r\n${trailer}\r\n\r\n`);
  }),
  hostile('bodies-that-are-empty', '400', (random, target) => {
    const options = { path: `${target.path}/${random.word()}/${random.word()}` };
    return random.chance(0.5)
      ? { bytes: framed(target, '', options) }
      : unframed(target, { ...options, headers: ['Transfer-Encoding: chunked'] }, '0\r\n\r\n');
  }),
  // The limit is 20 MiB. The server refuses the body before its first byte arrives.
  hostile('bodies-declared-too-large', '413', (random, target) => {
    const size = 20 * 1024 * 1024 + 1 + random.below(1_000_000_000);
    return unframed(target, { headers: [`Content-Length: ${size}`] }, random.healthyText());
  }),
  // The server answers each request, in order.
  hostile('requests-in-a-row', '200 patched then 200 patched then 200 patched then 405', (random, target) => {
    const good = [1, 2, 3].map(() => framed(target, random.healthyText()));
    return { bytes: Buffer.concat([...good, framed(target, '', { method: 'PUT' })]), answers: 4 };
  }),
  // The server does not parse a request inside a body, so there is only one answer.
  hostile('requests-hidden-in-bodies', '200 refused', (random, target) => {
    const hidden = framed(target, random.healthyText());
    return { bytes: framed(target, hidden, { headers: ['Connection: close'] }), answers: 'all' };
  }),
];
