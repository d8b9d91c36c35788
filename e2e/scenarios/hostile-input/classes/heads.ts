import type { Random } from '../../../../scripts/template-recorder/random.ts';
import {
  bytes,
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

/** A healthy review below a head that is not. */
function hostileHead(
  name: string,
  expect: HostileClass['expect'],
  options: (random: Random, target: HostileTarget) => Head,
): HostileClass {
  return hostile(name, expect, (random, target) => ({
    bytes: framed(target, healthyText(random), options(random, target)),
  }));
}

function lines(...text: readonly string[]): HostileRequest {
  return { bytes: Buffer.from(`${text.join('\r\n')}\r\n\r\n`, 'latin1') };
}

/** Heads of requests that no API server sends: paths, methods, types, header lines. */
export const heads: readonly HostileClass[] = [
  hostileHead('unknown-paths', '404', (random, target) => {
    const paths = [
      `/${word(random)}`,
      '/',
      `/inject/${word(random)}`,
      `/revisions/${word(random)}`,
      `//${word(random)}`,
      `/${word(random)}${target.path}`,
      `/validate/${word(random)}`,
      `/metrics/${word(random)}`,
      `*${word(random)}`,
      `${target.path}${word(random)}`,
    ];
    return { path: random.pick(paths) };
  }),
  // A path is compared as it is, decoded once; nothing is resolved, and no file is behind it.
  hostileHead('paths-that-climb', '404', (random, target) => {
    const up = random.pick([
      '..',
      '%2e%2e',
      '.%2E',
      '%252e%252e',
      '..%5c',
      '..;',
      '%c0%ae%c0%ae'.replaceAll('%c0%ae', '%2e'),
    ]);
    return {
      path: `/${word(random)}${`/${up}`.repeat(1 + random.below(6))}/${random.pick(['etc/passwd', 'validate', 'metrics', target.path.slice(1)])}`,
    };
  }),
  hostileHead('paths-with-broken-encoding', '400', (random, target) => ({
    path: `${target.path}/${word(random)}${random.pick(['%', '%2', '%zz', '%ff', '%c0%af', '%ed%a0%80', '%%%'])}`,
  })),
  // Another replica may have that configuration: the API server is to try again, on a new connection.
  hostileHead('paths-of-other-configurations', '503', (random, target) => {
    const [, , name = '', hash = ''] = target.path.split('/');
    const other = random.pick([
      `/revisions/${word(random)}/${hash}/inject`,
      `/revisions/${name}/${bytes(random, 4).toString('hex')}/inject`,
      `/revisions/${random.pick(['__proto__', 'constructor', 'toString'])}/${random.pick(['__proto__', hash, 'length'])}/inject/k/${word(random)}`,
      `/revisions/${name}/${hash}%20/inject/k/${word(random)}`,
      `/revisions/${name.toUpperCase()}/${hash}/inject/k/${word(random)}`,
    ]);
    return { path: other };
  }),
  hostileHead('paths-that-are-long', '404', (random) => ({
    path: `/${word(random, 8).repeat(200 + random.below(1500))}`,
  })),
  // What follows /inject are keys and values for the proxy; odd ones are as good as others.
  hostileHead('paths-with-absurd-environments', '200 patched', (random, target) => {
    const parts = Array.from({ length: 1 + random.below(20) }, () =>
      random.pick([word(random), '', '__proto__', '%2F', '%00', 'cluster', 'net']),
    );
    return { path: `${target.path}/${parts.join('/')}` };
  }),
  hostileHead('queries-that-mean-nothing', '200 patched', (random, target) => {
    const value = random.pick([
      '',
      word(random),
      '10',
      '1e9s',
      '%00',
      '10x',
      'NaN',
      '99999999999999999999h',
      '10s;10s',
      '%',
    ]);
    return { path: `${target.path}?timeout=${value}&${word(random)}=${word(random)}&&&=` };
  }),
  hostileHead('other-methods', '405', (random) => ({
    method: random.pick(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH', 'M-SEARCH']),
  })),
  hostile('head-requests', '405', (random, target) => ({
    bytes: Buffer.from(`${head(target, { method: 'HEAD', path: `${target.path}/${word(random, 9)}` })}\r\n`),
    withoutBody: true,
  })),
  hostile('connect-requests', 'closed', (random, target) => ({
    bytes: Buffer.from(
      `${head(target, { method: 'CONNECT', path: `${word(random)}.example.com:${random.below(65536)}` })}\r\n`,
    ),
  })),
  hostileHead('methods-that-are-none', '400', (random) => ({
    method: random.pick(['post', 'Post', 'XPOST', word(random).toUpperCase() + '1', 'P OST', '\u0001', '{"a":1}', '']),
  })),
  hostileHead('other-content-types', '415', (random) => {
    const types = [
      'text/plain',
      'application/yaml',
      'application/json-patch+json',
      'application/jsonp',
      'application/vnd.kubernetes.protobuf',
      'multipart/form-data; boundary=x',
      '',
      'json',
      'application/*',
      'application/json, text/plain',
      `application/${word(random)}`,
    ];
    return { contentType: random.chance(0.2) ? undefined : random.pick(types) };
  }),
  // Case, spaces and parameters do not matter.
  hostileHead('spellings-of-the-content-type', '200 patched', (random) => ({
    contentType: random.pick([
      'APPLICATION/JSON',
      'application/json; charset=utf-8',
      ' application/json ',
      `application/json;${word(random)}="${word(random)}"`,
      'Application/Json ; charset=latin1',
    ]),
  })),
  hostileHead('headers-that-are-too-large', '431', (random) => ({
    headers: [`X-${word(random)}: ${word(random, 16).repeat(1200 + random.below(400))}`],
  })),
  hostileHead('headers-without-end', '431', (random) => ({
    headers: Array.from({ length: 1500 + random.below(500) }, (_, index) => `x${index}: ${word(random, 9)}`),
  })),
  hostileHead('many-headers', '200 patched', (random) => ({
    headers: Array.from({ length: 100 + random.below(200) }, () => `${word(random, 8)}: ${word(random, 8)}`),
  })),
  // That is not HTTP (RFC 9112, section 5).
  hostileHead('header-lines-that-are-none', '400', (random) => ({
    headers: [
      random.pick([
        `${word(random)} : x`,
        `: ${word(random)}`,
        word(random),
        `\0${word(random)}: x`,
        `x: ${word(random)}\0`,
        `x\u007f: ${word(random)}`,
        `(${word(random)}): x`,
        `x: a\r${word(random)}`,
        `x: ${word(random)}\u0001`,
      ]),
    ],
  })),
  // HTTP/1.1 asks for one (RFC 9112, section 3.2).
  hostile('requests-without-a-host', '400', (random, target) =>
    lines(
      `POST ${target.path} HTTP/1.1`,
      'Content-Type: application/json',
      `x-${word(random)}: ${word(random)}`,
      'Content-Length: 0',
    ),
  ),
  // That is not HTTP (RFC 9112, section 3).
  hostile('request-lines-that-are-none', '400', (random, target) =>
    lines(
      random.pick([
        `POST ${target.path}/${word(random)} HTTP/9.9`,
        `POST ${target.path}/${word(random)} http/1.1`,
        `POST ${target.path}/${word(random)} ICE/1.0`,
        `POST HTTP/1.1 ${word(random)}`,
        `POST ${target.path} ${word(random)} HTTP/1.1`,
        word(random, 20),
        `POST\t${target.path}/${word(random)}\tHTTP/1.1`,
      ]),
      `Host: ${target.host}`,
      'Content-Length: 0',
    ),
  ),
  hostile('http-0.9', '400', (random) => ({
    bytes: Buffer.from(`GET /${word(random, 9)}\r\n`),
    thenEnd: true,
  })),
  hostile('http-1.0', '200 patched', (random, target) => ({
    bytes: framed(target, healthyText(random), { version: 'HTTP/1.0' }),
    answers: 'all',
  })),
  hostile('http-2-without-asking', '400', (random) => ({
    bytes: Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), bytes(random, 9 + random.below(60))]),
  })),
  // Only 100-continue is known (RFC 9110, section 10.1.1).
  hostileHead('expectations-that-nobody-meets', '417', (random) => ({ headers: [`Expect: ${word(random)}`] })),
  // No other protocol is offered, so the request is answered as it is.
  hostileHead('upgrades', '200 patched', (random) => ({
    headers: [
      'Connection: Upgrade',
      `Upgrade: ${random.pick(['websocket', 'h2c', word(random)])}`,
      `Sec-WebSocket-Key: ${word(random, 16)}`,
    ],
  })),
  // The first byte is never one that a method begins with, or an empty line that may come before one.
  hostile('random-header-bytes', ['400', '431'], (random) => ({
    bytes: Buffer.concat([
      Buffer.from([random.pick([0, 1, 0x7f, 0x80, 0xff, 0x3f])]),
      bytes(random, 20 + random.below(500)),
      Buffer.from('\r\n\r\n'),
    ]),
  })),
  hostileHead('headers-of-random-names', '200 patched', (random) => ({
    headers: Array.from(
      { length: 1 + random.below(20) },
      () =>
        `${random.pick(['__proto__', 'constructor', 'x-forwarded-for', 'authorization', 'cookie', 'x-http-method-override', word(random)])}: ${word(random)}`,
    ),
  })),
];
