import { framed, head, hostile, type Head, type HostileTarget, type Materials } from '../materials.ts';

/** Defines a class of valid reviews with an invalid head. */
function hostileHead(name: string, expect: string, options: (random: Materials, target: HostileTarget) => Head) {
  return hostile(name, expect, (random, target) => ({
    bytes: framed(target, random.healthyText(), options(random, target)),
  }));
}

function lines(...text: readonly string[]) {
  return { bytes: Buffer.from(`${text.join('\r\n')}\r\n\r\n`, 'latin1') };
}

/** Classes of requests with paths, methods, types and header lines that no API server sends. */
export const heads = [
  hostileHead('unknown-paths', '404', (random, target) => {
    const word = random.word();
    const parents = ['/', '//', '*', '/inject/', '/revisions/', '/validate/', '/metrics/', target.path];
    return { path: random.pick(['/', `/${word}${target.path}`, ...parents.map((parent) => `${parent}${word}`)]) };
  }),
  // The server decodes a path once and compares it. It does not resolve dots or serve files.
  hostileHead('paths-that-climb', '404', (random, target) => {
    const up = random.pick(['..', '%2e%2e', '.%2E', '%252e%252e', '..%5c', '..;']);
    const goal = random.pick(['etc/passwd', 'validate', 'metrics', target.path.slice(1)]);
    return { path: `/${random.word()}${`/${up}`.repeat(1 + random.below(6))}/${goal}` };
  }),
  hostileHead('paths-with-broken-encoding', '400', (random, target) => ({
    path: `${target.path}/${random.word()}${random.pick(['%', '%2', '%zz', '%ff', '%c0%af', '%ed%a0%80', '%%%'])}`,
  })),
  // Another replica may serve the configuration, so the API server should retry there.
  hostileHead('paths-of-other-configurations', '503', (random, target) => {
    const [, , name = '', hash = ''] = target.path.split('/');
    const inherited = random.pick(['__proto__', 'constructor', 'toString']);
    const other = random.pick([
      `${random.word()}/${hash}/inject`,
      `${name}/${random.bytes(4).toString('hex')}/inject`,
      `${inherited}/${random.pick(['__proto__', hash, 'length'])}/inject/k/${random.word()}`,
      `${name}/${hash}%20/inject/k/${random.word()}`,
      `${name.toUpperCase()}/${hash}/inject/k/${random.word()}`,
    ]);
    return { path: `/revisions/${other}` };
  }),
  hostileHead('paths-that-are-long', '404', (random) => ({
    path: `/${random.word(8).repeat(200 + random.below(1500))}`,
  })),
  // The rest of an /inject path contains keys and values for the proxy. Any text is valid.
  hostileHead('paths-with-absurd-environments', '200 patched', (random, target) => {
    const parts = Array.from({ length: 1 + random.below(20) }, () =>
      random.pick([random.word(), '', '__proto__', '%2F', '%00', 'cluster', 'net']),
    );
    return { path: `${target.path}/${parts.join('/')}` };
  }),
  hostileHead('queries-that-mean-nothing', '200 patched', (random, target) => {
    const values = ['', random.word(), '10', '1e9s', '%00', '10x', 'NaN', '99999999999999999999h', '10s;10s', '%'];
    const value = random.pick(values);
    return { path: `${target.path}?timeout=${value}&${random.word()}=${random.word()}&&&=` };
  }),
  hostileHead('other-methods', '405', (random) => ({
    method: random.pick(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH', 'M-SEARCH']),
  })),
  hostile('head-requests', '405', (random, target) => ({
    bytes: Buffer.from(`${head(target, { method: 'HEAD', path: `${target.path}/${random.word(9)}` })}\r\n`),
    withoutBody: true,
  })),
  hostile('connect-requests', 'closed', (random, target) => {
    const path = `${random.word()}.example.com:${random.below(65536)}`;
    return { bytes: Buffer.from(`${head(target, { method: 'CONNECT', path })}\r\n`) };
  }),
  hostileHead('methods-that-are-none', '400', (random) => ({
    method: random.pick(['post', 'Post', 'XPOST', random.word().toUpperCase() + '1', 'P OST', '\u0001', '{"a":1}', '']),
  })),
  hostileHead('other-content-types', '415', (random) => {
    const known = ['yaml', 'json-patch+json', 'jsonp', 'vnd.kubernetes.protobuf', '*', 'json, text/plain'];
    const subtypes = [...known, random.word()];
    const others = ['text/plain', 'multipart/form-data; boundary=x', '', 'json'];
    const types = [...subtypes.map((subtype) => `application/${subtype}`), ...others];
    return { contentType: random.chance(0.2) ? undefined : random.pick(types) };
  }),
  // The server ignores case, spaces and parameters.
  hostileHead('spellings-of-the-content-type', '200 patched', (random) => ({
    contentType: random.pick([
      'APPLICATION/JSON',
      'application/json; charset=utf-8',
      ' application/json ',
      `application/json;${random.word()}="${random.word()}"`,
      'Application/Json ; charset=latin1',
    ]),
  })),
  hostileHead('headers-that-are-too-large', '431', (random) => ({
    headers: [`X-${random.word()}: ${random.word(16).repeat(1200 + random.below(400))}`],
  })),
  hostileHead('headers-without-end', '431', (random) => ({
    headers: Array.from({ length: 1500 + random.below(500) }, (_, index) => `x${index}: ${random.word(9)}`),
  })),
  hostileHead('many-headers', '200 patched', (random) => ({
    headers: Array.from({ length: 100 + random.below(200) }, () => `${random.word(8)}: ${random.word(8)}`),
  })),
  // These lines are not valid HTTP (RFC 9112, section 5).
  hostileHead('header-lines-that-are-none', '400', (random) => {
    const word = random.word();
    const names = [`${word} : x`, `: ${word}`, word, `\0${word}: x`, `x\u007f: ${word}`, `(${word}): x`];
    return { headers: [random.pick([...names, `x: ${word}\0`, `x: a\r${word}`, `x: ${word}\u0001`])] };
  }),
  // HTTP/1.1 requires a Host header (RFC 9112, section 3.2).
  hostile('requests-without-a-host', '400', (random, target) =>
    lines(
      `POST ${target.path} HTTP/1.1`,
      'Content-Type: application/json',
      `x-${random.word()}: ${random.word()}`,
      'Content-Length: 0',
    ),
  ),
  // These lines are not valid HTTP (RFC 9112, section 3).
  hostile('request-lines-that-are-none', '400', (random, target) => {
    const path = `${target.path}/${random.word()}`;
    const versions = [`POST ${path} HTTP/9.9`, `POST ${path} http/1.1`, `POST ${path} ICE/1.0`];
    const others = [`POST HTTP/1.1 ${random.word()}`, `POST ${target.path} ${random.word()} HTTP/1.1`, random.word(20)];
    const first = random.pick([...versions, ...others, `POST\t${path}\tHTTP/1.1`]);
    return lines(first, `Host: ${target.host}`, 'Content-Length: 0');
  }),
  hostile('http-0.9', '400', (random) => ({ bytes: Buffer.from(`GET /${random.word(9)}\r\n`), thenEnd: true })),
  hostile('http-1.0', '200 patched', (random, target) => ({
    bytes: framed(target, random.healthyText(), { version: 'HTTP/1.0' }),
    answers: 'all',
  })),
  hostile('http-2-without-asking', '400', (random) => ({
    bytes: Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), random.bytes(9 + random.below(60))]),
  })),
  // HTTP defines only the expectation 100-continue (RFC 9110, section 10.1.1).
  hostileHead('unknown-expectations', '417', (random) => ({ headers: [`Expect: ${random.word()}`] })),
  // The server offers no other protocol, so it ignores the request for an upgrade.
  hostileHead('upgrades', '200 patched', (random) => ({
    headers: [
      'Connection: Upgrade',
      `Upgrade: ${random.pick(['websocket', 'h2c', random.word()])}`,
      `Sec-WebSocket-Key: ${random.word(16)}`,
    ],
  })),
  // The first byte must not begin a method or an empty line, which may precede a request.
  hostile('random-header-bytes', ['400', '431'], (random) => {
    const first = Buffer.from([random.pick([0, 1, 0x7f, 0x80, 0xff, 0x3f])]);
    return { bytes: Buffer.concat([first, random.bytes(20 + random.below(500)), Buffer.from('\r\n\r\n')]) };
  }),
  hostileHead('headers-of-random-names', '200 patched', (random) => {
    const known = ['x-forwarded-for', 'authorization', 'cookie', 'x-http-method-override'];
    const line = () => `${random.pick([...known, '__proto__', 'constructor', random.word()])}: ${random.word()}`;
    return { headers: Array.from({ length: 1 + random.below(20) }, line) };
  }),
];
