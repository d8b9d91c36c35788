import { framed, hostile, type HostileClass, type HostileTarget, type Materials } from './materials.ts';

/** Returns a TLS record (RFC 8446, section 5.1). */
function record(type: number, version: number, content: Buffer): Buffer {
  const start = [type, version >> 8, version & 255, content.length >> 8, content.length & 255];
  return Buffer.concat([Buffer.from(start), content]);
}

/** Returns the record of a ClientHello (RFC 8446, section 4) with a content of at most 64 KiB. */
function helloRecord(content: Buffer): Buffer {
  return record(22, 0x0301, Buffer.concat([Buffer.from([1, 0, content.length >> 8, content.length & 255]), content]));
}

/** Returns the record of a ClientHello without extensions, with a version and cipher suites. */
function clientHello(version: number, random: Buffer, suites: readonly number[]): Buffer {
  return helloRecord(Buffer.from([version >> 8, version & 255, ...random, 0, 0, suites.length, ...suites, 1, 0]));
}

/** Defines a class of bytes without TLS, after which the server only closes the connection. */
function plain(name: string, make: (random: Materials, target: HostileTarget) => Buffer): HostileClass {
  return hostile(name, 'closed', (random, target) => ({ bytes: make(random, target), plain: true, thenEnd: true }));
}

/** Classes of bytes that are not HTTP over TLS. */
export const transport = [
  plain('plain-http', (random, target) => framed(target, random.healthyText())),
  plain('plain-bytes', (random) => random.bytes(5 + random.below(500))),
  plain('tls-records-of-random-bytes', (random) => record(20 + random.below(5), 0x0301 + random.below(3), random.bytes(1 + random.below(400)))),
  plain('tls-hello-of-random-bytes', (random) => helloRecord(random.bytes(40 + random.below(300)))),
  plain('tls-too-old', (random) => clientHello(random.pick([0x0300, 0x0301, 0x0302]), random.bytes(32), [0xc0, 0x13, 0, 0x2f, 0, 0x35])),
  plain('tls-without-a-common-cipher', (random) => clientHello(0x0303, random.bytes(32), [0, 0, 0, 1, 0, 2, 0, 4, 0, 5])),
  plain('tls-cut-short', (random) => {
    const hello = clientHello(0x0303, random.bytes(32), [0x13, 1, 0xc0, 0x2f]);
    return hello.subarray(0, 43 + random.below(hello.length - 44));
  }),
  plain('other-protocols', (random) => {
    const ofText = [`SSH-2.0-${random.word()}`, `EHLO ${random.word(9)}`, `*1\r\n$4\r\n${random.word(8)}`, `GET /${random.word()} HTTP/1.1\r\n`];
    const proxy = `PROXY TCP4 10.0.0.${random.below(256)} 10.0.0.1 ${random.below(65536)} 443`;
    return Buffer.from(random.pick([`\u0003\u0000\u0000\u0013${random.word(12)}`, ...[...ofText, proxy].map((text) => `${text}\r\n`)]));
  }),
];
