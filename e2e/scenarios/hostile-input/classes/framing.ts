import type { Random } from '../../../../scripts/template-recorder/random.ts';
import {
  framed,
  head,
  healthyText,
  hostile,
  word,
  type Head,
  type HostileClass,
  type HostileRequest,
  type HostileTarget,
} from '../materials.ts';

/** A head without a length, and text behind it as it is. */
function unframed(target: HostileTarget, options: Head, text: string): HostileRequest {
  return { bytes: Buffer.from(`${head(target, options)}\r\n${text}`, 'latin1') };
}

/** A healthy review whose length is told in lines of one's own. */
function told(random: Random, target: HostileTarget, lines: (length: number) => readonly string[]): HostileRequest {
  const text = healthyText(random);
  return unframed(target, { headers: lines(Buffer.byteLength(text)) }, text);
}

function inChunks(target: HostileTarget, ...chunks: readonly string[]): HostileRequest {
  return unframed(target, { headers: ['Transfer-Encoding: chunked'] }, chunks.join(''));
}

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

export const framing: readonly HostileClass[] = [
  // The body ends where it says, and what follows is no request: it ends the connection, before the answer if it is there as soon.
  hostile('length-too-short', ['400', '200 refused then 400'], (random, target) => {
    // The rest must not begin like a method's name, nor with empty lines, which may come before a request.
    const text = healthyText(random);
    const short = 40 + random.below(60);
    const rest = `\u0001${text.slice(short)}`;
    return { bytes: Buffer.concat([framed(target, text.slice(0, short)), Buffer.from(rest)]), answers: 'all' };
  }),
  // The rest never comes, and nobody is there to be told.
  hostile('length-too-long-then-gone', ['400', 'closed'], (random, target) => ({
    ...told(random, target, (length) => [`Content-Length: ${length + 1 + random.below(1000)}`]),
    thenEnd: true,
  })),
  // A body has the time of its own timeout, and no more.
  hostile('length-too-long-and-waiting', '408', (random, target) => {
    const text = healthyText(random);
    const options = {
      path: `${target.path}?timeout=${20 + random.below(60)}ms`,
      headers: [`Content-Length: ${text.length + 1 + random.below(1000)}`],
    };
    return unframed(target, options, text);
  }),
  hostile('lengths-that-are-none', '400', (random, target) =>
    told(random, target, (length) => [
      `Content-Length: ${random.pick([`-${length}`, `+${length}`, `0x${length.toString(16)}`, `${length}.0`, `${length} ${length}`, word(random), '9'.repeat(20 + random.below(40)), `${length}e0`, '"0"', `${length},`, ''])}`,
    ]),
  ),
  hostile('two-lengths', '400', (random, target) =>
    told(random, target, (length) =>
      random.pick([
        [`Content-Length: ${length}`, `Content-Length: ${length + 1 + random.below(9)}`],
        [`Content-Length: ${length}`, `content-length: ${length}`],
        [`Content-Length: ${length}, ${length}`],
      ]),
    ),
  ),
  // One of the two is a lie, and a proxy may have believed the other (RFC 9112, section 6.1).
  hostile('length-and-chunks', '400', (random, target) => {
    const headers = [`Content-Length: ${random.below(2000)}`, 'Transfer-Encoding: chunked'];
    if (random.chance(0.5)) headers.reverse();
    return unframed(target, { headers }, `${chunk(healthyText(random))}0\r\n\r\n`);
  }),
  hostile('unknown-transfer-encodings', '400', (random, target) => {
    const encoding = random.pick([
      'gzip',
      'identity',
      'xchunked',
      'chunked, gzip',
      'chunked, identity',
      `chunked, ${word(random)}`,
      word(random),
      'chunked; q=1',
    ]);
    return unframed(target, { headers: [`Transfer-Encoding: ${encoding}`] }, `${chunk(healthyText(random))}0\r\n\r\n`);
  }),
  hostile('chunk-sizes-that-are-none', '400', (random, target) =>
    inChunks(
      target,
      `${random.pick(['-1', 'zz', '0x10', '+5', 'FFFFFFFFFFFFFFFFFF', `${word(random)}!`, '', '1 2'])}\r\n${healthyText(random)}\r\n0\r\n\r\n`,
    ),
  ),
  hostile('chunks-longer-than-their-size', '400', (random, target) => {
    const text = healthyText(random);
    return inChunks(target, `${(text.length - 1 - random.below(50)).toString(16)}\r\n${text}\r\n0\r\n\r\n`);
  }),
  hostile('chunks-without-line-ends', '400', (random, target) =>
    inChunks(target, chunk(healthyText(random)).replaceAll('\r\n', random.pick(['\n', '\r', '']))),
  ),
  // The rest never comes, and nobody is there to be told.
  hostile('chunks-without-the-last', ['400', 'closed'], (random, target) => ({
    ...inChunks(target, chunk(healthyText(random))),
    thenEnd: true,
  })),
  hostile('chunk-extensions-without-end', '400', (random, target) =>
    inChunks(
      target,
      `5;${word(random, 12)}=${word(random, 16).repeat(1100 + random.below(300))}\r\nhello\r\n0\r\n\r\n`,
    ),
  ),
  // What nobody reads is bounded too; the review before them was whole.
  hostile('trailers-without-end', ['431', '400'], (random, target) =>
    inChunks(
      target,
      chunk(healthyText(random)),
      `0\r\nX-${word(random)}: ${word(random, 16).repeat(1100 + random.below(300))}\r\n\r\n`,
    ),
  ),
  hostile('bodies-that-are-empty', '400', (random, target) => {
    const options = { path: `${target.path}/${word(random)}/${word(random)}` };
    return random.chance(0.5)
      ? { bytes: framed(target, '', options) }
      : unframed(target, { ...options, headers: ['Transfer-Encoding: chunked'] }, '0\r\n\r\n');
  }),
  // The bound is 20 MiB: it is refused before a byte of it has come.
  hostile('bodies-declared-too-large', '413', (random, target) => {
    const size = 20 * 1024 * 1024 + 1 + random.below(1_000_000_000);
    return unframed(target, { headers: [`Content-Length: ${size}`] }, healthyText(random));
  }),
  // Each of them is answered, in order.
  hostile('requests-in-a-row', '200 patched then 200 patched then 200 patched then 405', (random, target) => {
    const good = [1, 2, 3].map(() => framed(target, healthyText(random)));
    return { bytes: Buffer.concat([...good, framed(target, '', { method: 'PUT' })]), answers: 4 };
  }),
  // A body is a body, whatever it looks like: there is one answer.
  hostile('requests-hidden-in-bodies', '200 refused', (random, target) => {
    const hidden = framed(target, healthyText(random));
    return { bytes: framed(target, hidden, { headers: ['Connection: close'] }), answers: 'all' };
  }),
];
