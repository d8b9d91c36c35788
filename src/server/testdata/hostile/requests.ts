import { framed, head, hostile, hostileHead, type Head, type HostileTarget, type Materials } from './materials.ts';

const patched = '200 patched';

/** Returns the head of a request without a length, followed by a text. */
function unframed(target: HostileTarget, options: Head, text = ''): Buffer {
  return Buffer.from(`${head(target, options)}\r\n${text}`, 'latin1');
}

/** Classes of requests with paths, methods, types and header lines that no API server sends. */
export const heads = [
  hostileHead('unknown-paths', '404', (random, target) => {
    const parents = ['/', '//', '*', '/inject/', '/revisions/', '/validate/', '/metrics/', target.path];
    return { path: random.pick(['/', `/${random.word()}${target.path}`, ...parents.map((parent) => `${parent}${random.word()}`)]) };
  }),
  // The server decodes a path once and compares it. It does not resolve dots or serve files.
  hostileHead('paths-that-climb', '404', (random, target) => {
    const up = random.pick(['..', '%2e%2e', '.%2E', '%252e%252e', '..%5c', '..;']);
    const goal = random.pick(['etc/passwd', 'validate', 'metrics', target.path.slice(1)]);
    return { path: `/${random.word()}${`/${up}`.repeat(1 + random.below(6))}/${goal}` };
  }),
  hostileHead('paths-with-broken-encoding', '400', (random, target) =>
    ({ path: `${target.path}/${random.word()}${random.pick(['%', '%2', '%zz', '%ff', '%c0%af', '%ed%a0%80', '%%%'])}` })),
  // Another replica may serve the configuration, so the API server should retry there.
  hostileHead('paths-of-other-configurations', '503', (random, target) => {
    const [, , name = '', hash = ''] = target.path.split('/');
    const inherited = `${random.pick(['__proto__', 'constructor', 'toString'])}/${random.pick(['__proto__', hash, 'length'])}`;
    const others = [`${random.word()}/${hash}`, `${name}/${random.bytes(4).toString('hex')}`, `${name}/${hash}%20`, `${name.toUpperCase()}/${hash}`];
    return { path: `/revisions/${random.pick([inherited, ...others])}/inject/k/${random.word()}` };
  }),
  hostileHead('paths-that-are-long', '404', (random) => ({ path: `/${random.word(8).repeat(200 + random.below(1500))}` })),
  // The rest of an /inject path contains keys and values for the proxy. Any text is valid.
  hostileHead('paths-with-absurd-environments', patched, (random, target) => {
    const part = () => random.pick([random.word(), '', '__proto__', '%2F', '%00', 'cluster', 'net']);
    return { path: `${target.path}/${Array.from({ length: 1 + random.below(20) }, part).join('/')}` };
  }),
  hostileHead('queries-that-mean-nothing', patched, (random, target) => {
    const values = ['', random.word(), '10', '1e9s', '%00', '10x', 'NaN', '99999999999999999999h', '10s;10s', '%'];
    return { path: `${target.path}?timeout=${random.pick(values)}&${random.word()}=${random.word()}&&&=` };
  }),
  hostileHead('other-methods', '405', (random) =>
    ({ method: random.pick(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH', 'M-SEARCH']) })),
  hostile('head-requests', '405', (random, target) =>
    ({ bytes: unframed(target, { method: 'HEAD', path: `${target.path}/${random.word(9)}` }), withoutBody: true })),
  hostile('connect-requests', 'closed', (random, target) =>
    unframed(target, { method: 'CONNECT', path: `${random.word()}.example.com:${random.below(65536)}` })),
  hostileHead('methods-that-are-none', '400', (random) =>
    ({ method: random.pick(['post', 'Post', 'XPOST', random.word().toUpperCase() + '1', 'P OST', '\u0001', '{"a":1}', '']) })),
  hostileHead('other-content-types', '415', (random) => {
    const subtypes = ['yaml', 'json-patch+json', 'jsonp', 'vnd.kubernetes.protobuf', '*', 'json, text/plain', random.word()];
    const others = ['text/plain', 'multipart/form-data; boundary=x', '', 'json', undefined, undefined];
    return { contentType: random.pick([...subtypes.map((subtype) => `application/${subtype}`), ...others]) };
  }),
  // The server ignores case, spaces and parameters.
  hostileHead('spellings-of-the-content-type', patched, (random) => {
    const own = `application/json;${random.word()}="${random.word()}"`;
    const others = ['APPLICATION/JSON', ' application/json ', 'Application/Json ; charset=latin1', 'application/json; charset=utf-8'];
    return { contentType: random.pick([own, ...others]) };
  }),
  hostileHead('headers-that-are-too-large', '431', (random) => ({ headers: [`X-${random.word()}: ${random.word(16).repeat(1200 + random.below(400))}`] })),
  hostileHead('headers-without-end', '431', (random) =>
    ({ headers: Array.from({ length: 1500 + random.below(500) }, (_, index) => `x${index}: ${random.word(9)}`) })),
  hostileHead('many-headers', patched, (random) =>
    ({ headers: Array.from({ length: 100 + random.below(200) }, () => `${random.word(8)}: ${random.word(8)}`) })),
  // These three classes are not valid HTTP (RFC 9112, sections 5, 3.2 and 3).
  hostileHead('header-lines-that-are-none', '400', (random) => {
    const word = random.word();
    const names = [`${word} : x`, `: ${word}`, word, `\0${word}: x`, `x\u007f: ${word}`, `(${word}): x`];
    return { headers: [random.pick([...names, `x: ${word}\0`, `x: a\r${word}`, `x: ${word}\u0001`])] };
  }),
  hostile('requests-without-a-host', '400', (random, target) =>
    Buffer.from(`POST ${target.path} HTTP/1.1\r\nx-${random.word()}: ${random.word()}\r\nContent-Length: 0\r\n\r\n`)),
  hostile('request-lines-that-are-none', '400', (random, target) => {
    const path = `${target.path}/${random.word()}`;
    const versions = [`POST ${path} HTTP/9.9`, `POST ${path} http/1.1`, `POST ${path} ICE/1.0`, `POST\t${path}\tHTTP/1.1`];
    const others = [`POST HTTP/1.1 ${random.word()}`, `POST ${target.path} ${random.word()} HTTP/1.1`, random.word(20)];
    return Buffer.from(`${random.pick([...versions, ...others])}\r\nHost: ${target.host}\r\nContent-Length: 0\r\n\r\n`);
  }),
  hostile('http-0.9', '400', (random) => ({ bytes: Buffer.from(`GET /${random.word(9)}\r\n`), thenEnd: true })),
  hostile('http-1.0', patched, (random, target) => ({ bytes: framed(target, random.healthyText(), { version: 'HTTP/1.0' }), answers: 'all' })),
  hostile('http-2-without-asking', '400', (random) =>
    Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), random.bytes(9 + random.below(60))])),
  // HTTP defines only the expectation 100-continue (RFC 9110, section 10.1.1).
  hostileHead('unknown-expectations', '417', (random) => ({ headers: [`Expect: ${random.word()}`] })),
  // The server offers no other protocol, so it ignores the request for an upgrade.
  hostileHead('upgrades', patched, (random) =>
    ({ headers: ['Connection: Upgrade', `Upgrade: ${random.pick(['websocket', 'h2c', random.word()])}`, `Sec-WebSocket-Key: ${random.word(16)}`] })),
  // The first byte must not begin a method or an empty line, which may precede a request.
  hostile('random-header-bytes', '400 or 431', (random) =>
    Buffer.from([random.pick([0, 1, 0x7f, 0x80, 0xff, 0x3f]), ...random.bytes(20 + random.below(500)), ...Buffer.from('\r\n\r\n')])),
  hostileHead('headers-of-random-names', patched, (random) => {
    const known = ['x-forwarded-for', 'authorization', 'cookie', 'x-http-method-override', '__proto__', 'constructor'];
    const line = () => `${random.pick([...known, random.word()])}: ${random.word()}`;
    return { headers: Array.from({ length: 1 + random.below(20) }, line) };
  }),
];

/** Returns a valid review with the header lines for its length. */
function withLength(random: Materials, target: HostileTarget, headers: (length: number) => string[]): Buffer {
  const text = random.healthyText();
  return unframed(target, { headers: headers(Buffer.byteLength(text)) }, text);
}

function inChunks(target: HostileTarget, ...chunks: readonly string[]): Buffer {
  return unframed(target, { headers: ['Transfer-Encoding: chunked'] }, chunks.join(''));
}

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}
const end = '0\r\n\r\n';

/** Classes of requests with wrong or unusual lengths, chunks and sequences. */
export const framing = [
  // The text after the declared length begins neither like a method nor with an empty line. The
  // server then closes the connection, possibly before the first answer.
  hostile('length-too-short', '400 or 200 refused then 400', (random, target) => {
    const text = random.healthyText();
    const short = 40 + random.below(60);
    const rest = `\u0001${text.slice(short)}`;
    return { bytes: Buffer.concat([framed(target, text.slice(0, short)), Buffer.from(rest)]), answers: 'all' };
  }),
  // The rest never arrives, because the client has closed the connection.
  hostile('length-too-long-then-gone', '400 or closed', (random, target) =>
    ({ bytes: withLength(random, target, (length) => [`Content-Length: ${length + 1 + random.below(1000)}`]), thenEnd: true })),
  // The body must arrive within the timeout of the request.
  hostile('length-too-long-and-waiting', '408', (random, target) => {
    const text = random.healthyText();
    const headers = [`Content-Length: ${text.length + 1 + random.below(1000)}`];
    return unframed(target, { path: `${target.path}?timeout=${20 + random.below(60)}ms`, headers }, text);
  }),
  hostile('lengths-that-are-none', '400', (random, target) => withLength(random, target, (length) => {
    const spelled = [`-${length}`, `+${length}`, `0x${length.toString(16)}`, `${length}.0`, `${length}e0`, `${length},`];
    const others = [`${length} ${length}`, random.word(), '9'.repeat(20 + random.below(40)), '"0"', ''];
    return [`Content-Length: ${random.pick([...spelled, ...others])}`];
  })),
  hostile('two-lengths', '400', (random, target) => withLength(random, target, (length) => {
    const first = `Content-Length: ${length}`;
    return random.pick([[first, `Content-Length: ${length + 1 + random.below(9)}`], [first, `content-length: ${length}`], [`${first}, ${length}`]]);
  })),
  // Request smuggling: a proxy may use either length (RFC 9112, section 6.1).
  hostile('length-and-chunks', '400', (random, target) => {
    const headers = [`Content-Length: ${random.below(2000)}`, 'Transfer-Encoding: chunked'];
    return unframed(target, { headers: random.chance(0.5) ? headers : headers.reverse() }, chunk(random.healthyText()) + end);
  }),
  hostile('unknown-transfer-encodings', '400', (random, target) => {
    const names = ['gzip', 'identity', random.word()];
    const encoding = random.pick([...names, ...names.map((name) => `chunked, ${name}`), 'xchunked', 'chunked; q=1']);
    return unframed(target, { headers: [`Transfer-Encoding: ${encoding}`] }, chunk(random.healthyText()) + end);
  }),
  hostile('chunk-sizes-that-are-none', '400', (random, target) => {
    const size = random.pick(['-1', 'zz', '0x10', '+5', 'FFFFFFFFFFFFFFFFFF', `${random.word()}!`, '', '1 2']);
    return inChunks(target, `${size}\r\n${random.healthyText()}\r\n`, end);
  }),
  hostile('chunks-longer-than-their-size', '400', (random, target) => {
    const text = random.healthyText();
    return inChunks(target, `${(text.length - 1 - random.below(50)).toString(16)}\r\n${text}\r\n`, end);
  }),
  hostile('chunks-without-line-ends', '400', (random, target) =>
    inChunks(target, chunk(random.healthyText()).replaceAll('\r\n', random.pick(['\n', '\r', ''])))),
  // The rest never arrives, because the client has closed the connection.
  hostile('chunks-without-the-last', '400 or closed', (random, target) => ({ bytes: inChunks(target, chunk(random.healthyText())), thenEnd: true })),
  hostile('chunk-extensions-without-end', '400', (random, target) =>
    inChunks(target, `5;${random.word(12)}=${random.word(16).repeat(1100 + random.below(300))}\r\nhello\r\n`, end)),
  // The server ignores trailers, but bounds their size. The review before them is complete.
  hostile('trailers-without-end', '431 or 400', (random, target) => {
    const trailer = `X-${random.word()}: ${random.word(16).repeat(1100 + random.below(300))}`;
    return inChunks(target, chunk(random.healthyText()), `0\r\n${trailer}\r\n\r\n`);
  }),
  hostile('bodies-that-are-empty', '400', (random, target) => {
    const path = `${target.path}/${random.word()}/${random.word()}`;
    return random.chance(0.5) ? framed(target, '', { path }) : unframed(target, { path, headers: ['Transfer-Encoding: chunked'] }, end);
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
