import { bytes, framed, healthyText, hostile, word, type HostileClass } from '../materials.ts';

/** A TLS record (RFC 8446, section 5.1). */
function record(type: number, version: number, content: Buffer): Buffer {
  const start = Buffer.alloc(5);
  start.writeUInt8(type, 0);
  start.writeUInt16BE(version, 1);
  start.writeUInt16BE(content.length, 3);
  return Buffer.concat([start, content]);
}

/** A handshake message (RFC 8446, section 4). */
function handshake(type: number, content: Buffer): Buffer {
  const start = Buffer.alloc(4);
  start.writeUInt32BE(content.length, 0);
  start.writeUInt8(type, 0);
  return Buffer.concat([start, content]);
}

/** A ClientHello without extensions, of a version and with these cipher suites. */
function clientHello(version: number, random: Buffer, suites: Buffer): Buffer {
  const start = Buffer.alloc(2);
  start.writeUInt16BE(version, 0);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(suites.length, 0);
  return handshake(1, Buffer.concat([start, random, Buffer.from([0]), length, suites, Buffer.from([1, 0])]));
}

const plain = { transport: 'plain', thenEnd: true } as const;
const closed = 'closed';

/** What comes to the port and is not HTTP over TLS. */
export const transport: readonly HostileClass[] = [
  // The port speaks TLS only, and tells nothing to those who do not.
  hostile('plain-http', closed, (random, target) => ({ bytes: framed(target, healthyText(random)), ...plain })),
  hostile('plain-bytes', closed, (random) => ({
    bytes: bytes(random, 5 + random.below(500)),
    ...plain,
  })),
  hostile('tls-records-of-random-bytes', closed, (random) => ({
    bytes: record(20 + random.below(5), 0x0301 + random.below(3), bytes(random, 1 + random.below(400))),
    ...plain,
  })),
  hostile('tls-hello-of-random-bytes', closed, (random) => ({
    bytes: record(22, 0x0301, handshake(1, bytes(random, 40 + random.below(300)))),
    ...plain,
  })),
  hostile('tls-too-old', closed, (random) => ({
    bytes: record(
      22,
      0x0301,
      clientHello(
        random.pick([0x0300, 0x0301, 0x0302]),
        bytes(random, 32),
        Buffer.from([0xc0, 0x13, 0, 0x2f, 0, 0x35]),
      ),
    ),
    ...plain,
  })),
  hostile('tls-without-a-common-cipher', closed, (random) => ({
    bytes: record(22, 0x0301, clientHello(0x0303, bytes(random, 32), Buffer.from([0, 0, 0, 1, 0, 2, 0, 4, 0, 5]))),
    ...plain,
  })),
  hostile('tls-cut-short', closed, (random) => {
    const hello = record(22, 0x0301, clientHello(0x0303, bytes(random, 32), Buffer.from([0x13, 1, 0xc0, 0x2f])));
    return { bytes: hello.subarray(0, 43 + random.below(hello.length - 44)), ...plain };
  }),
  hostile('other-protocols', closed, (random) => ({
    bytes: Buffer.from(
      random.pick([
        `SSH-2.0-${word(random)}\r\n`,
        `EHLO ${word(random, 9)}\r\n`,
        `*1\r\n$4\r\n${word(random, 8)}\r\n`,
        `\u0003\u0000\u0000\u0013${word(random, 12)}`,
        `PROXY TCP4 10.0.0.${random.below(256)} 10.0.0.1 ${random.below(65536)} 443\r\n`,
        `GET /${word(random)} HTTP/1.1\r\n\r\n`,
      ]),
    ),
    ...plain,
  })),
];
