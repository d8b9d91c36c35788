import { Buffer } from 'node:buffer';
import { isIPv6 } from 'node:net';
import { goFunction, type FunctionTable } from '../go/go-function.ts';
import { byteLength, fromBytes, toBytes } from '../../go-string.ts';
import { anyMap, string } from '../../exec/parameters.ts';
import { quoteString } from '../../quote.ts';
import { property } from '../../typed-value.ts';
import { rawEntries } from '../../value-kind.ts';
import { emptyMap, kindName } from './elements.ts';

/** The parts of a URL, which differ in the characters that need no escape. */
type Part = 'path' | 'fragment' | 'host' | 'zone' | 'user';

/** The unescaped characters of each part besides letters, digits and -_.~ (Go's net/url). */
const literal: Readonly<Record<Part, RegExp>> = {
  path: /[$&+,/:;=@]/,
  fragment: /[$&+,/:;=?@!()*]/,
  host: /[!$&'()*+,;=:[\]<>"]/,
  zone: /[!$&'()*+,;=:[\]<>"]/,
  user: /[$&+,;=]/,
};

function mustEscape(character: string, part: Part): boolean {
  return !/[A-Za-z0-9\-_.~]/.test(character) && !literal[part].test(character);
}

function escape(text: string, part: Part): string {
  return Array.from(toBytes(text), (byte) => {
    const character = String.fromCharCode(byte);
    return mustEscape(character, part) ? `%${byte.toString(16).toUpperCase().padStart(2, '0')}` : character;
  }).join('');
}

function unescape(text: string, part: Part): string {
  const wrong = /%(?![0-9a-fA-F]{2}).{0,2}/su.exec(text);
  if (wrong !== null) throw new Error(`invalid URL escape ${quoteString(wrong[0])}`);
  if (part === 'host' || part === 'zone') checkHost(text, part);
  const bytes = toBytes(text).toString('latin1');
  const plain = bytes.replace(/%([0-9a-fA-F]{2})/g, (_escape, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return fromBytes(Buffer.from(plain, 'latin1'));
}

/** Checks escapes: a host may escape non-ASCII bytes; a zone, only characters valid in a host. */
function checkHost(text: string, part: 'host' | 'zone'): void {
  for (const [whole, digits = ''] of text.matchAll(/%([0-9a-fA-F]{2})/g)) {
    const code = Number.parseInt(digits, 16);
    const character = String.fromCharCode(code);
    const refused =
      part === 'host'
        ? code < 0x80 && whole !== '%25'
        : whole !== '%25' && character !== ' ' && mustEscape(character, 'host');
    if (refused) throw new Error(`invalid URL escape ${quoteString(whole)}`);
  }
  const invalid = Array.from(text).find(
    (character) => character < '\x80' && character !== '%' && mustEscape(character, part),
  );
  if (invalid !== undefined) throw new Error(`invalid character ${quoteString(invalid)} in host name`);
}

/** Prefixes the message of an error with the action. */
function withAction<Result>(action: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    throw new Error(`${action}: ${(error as Error).message}`, { cause: error });
  }
}

/** Go's url.Parse. */
function parse(text: string) {
  return withAction(`parse ${quoteString(text.replace(/#[^]*/, ''))}`, () => parseReference(text));
}

function parseReference(text: string) {
  const hash = text.indexOf('#');
  const fragment = hash < 0 ? '' : text.slice(hash + 1);
  let rest = hash < 0 ? text : text.slice(0, hash);
  if (/[^ -~\x80-\uffff]/.test(rest)) throw new Error('net/url: invalid control character in URL');
  const scheme = /^[a-zA-Z][a-zA-Z0-9+.-]*(?=:)/.exec(rest)?.[0] ?? '';
  if (scheme === '' && rest.startsWith(':')) throw new Error('missing protocol scheme');
  if (scheme !== '') rest = rest.slice(scheme.length + 1);
  const question = rest.indexOf('?');
  const query = question < 0 ? '' : rest.slice(question + 1);
  if (question >= 0) rest = rest.slice(0, question);
  const url = { scheme: scheme.toLowerCase(), opaque: '', userinfo: '', host: '', path: '', query, fragment: '' };
  if (!rest.startsWith('/') && scheme !== '') return { ...url, opaque: rest, fragment: unescape(fragment, 'fragment') };
  if (!rest.startsWith('/') && String(rest.split('/')[0]).includes(':')) {
    throw new Error('first path segment in URL cannot contain colon');
  }
  if (rest.startsWith('//') && (scheme !== '' || !rest.startsWith('///'))) {
    const slash = rest.indexOf('/', 2);
    const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
    rest = slash < 0 ? '' : rest.slice(slash);
    const at = authority.lastIndexOf('@');
    url.host = parseHost(url.scheme, authority.slice(at + 1));
    if (at >= 0) url.userinfo = parseUserinfo(authority.slice(0, at));
  }
  return { ...url, path: unescape(rest, 'path'), fragment: unescape(fragment, 'fragment') };
}

/** Returns the user and the password, escaped again. */
function parseUserinfo(text: string): string {
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(text)) throw new Error('net/url: invalid userinfo');
  const colon = text.indexOf(':');
  const parts = colon < 0 ? [text] : [text.slice(0, colon), text.slice(colon + 1)];
  return parts.map((part) => escape(unescape(part, 'user'), 'user')).join(':');
}

function parseHost(scheme: string, host: string): string {
  const bracket = host.lastIndexOf('[');
  if (bracket > 0) throw new Error('invalid IP-literal');
  if (bracket === 0) return parseAddress(host);
  const first = host.indexOf(':');
  const colon = scheme === 'http' || scheme === 'https' ? first : host.lastIndexOf(':');
  if (colon >= 0) checkPort(host.slice(colon));
  return unescape(host, 'host');
}

function parseAddress(host: string): string {
  const close = host.lastIndexOf(']');
  if (close < 0) throw new Error("missing ']' in host");
  const port = host.slice(close + 1);
  checkPort(port);
  const name = host.slice(1, close);
  const zone = name.indexOf('%25');
  const address =
    zone < 0 ? unescape(name, 'host') : unescape(name.slice(0, zone), 'host') + unescape(name.slice(zone), 'zone');
  const [number = '', ...zoneName] = address.split('%');
  if (!isIPv6(number) || (zone >= 0 && zoneName.join('%') === ''))
    throw new Error(`invalid host: ParseAddr(${quoteString(address)}): unable to parse IP`);
  return `[${address}]${port}`;
}

function checkPort(port: string): void {
  if (!/^(?::[0-9]*)?$/.test(port)) throw new Error(`invalid port ${quoteString(port)} after host`);
}

/** Returns the host without port and brackets. */
function hostname(host: string): string {
  const colon = host.lastIndexOf(':');
  const name = colon >= 0 && /^:[0-9]*$/.test(host.slice(colon)) ? host.slice(0, colon) : host;
  return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
}

function parseUrl(text: string): Record<string, unknown> {
  const url = withAction('unable to parse url', () => parse(text));
  return Object.assign(emptyMap(), url, { hostname: hostname(url.host) });
}

/** sprig's urlJoin, the inverse of urlParse; accepts only strings. */
function joinUrl(map: unknown): string {
  const read = (key: string): string => {
    const value = property(rawEntries(map), key);
    if (value === undefined || typeof value === 'string') return value ?? '';
    if (value === null) throw new Error('runtime error: invalid memory address or nil pointer dereference');
    throw new Error(`unable to parse ${key} key, must be of type string, but ${kindName(value)} found`);
  };
  const [scheme, host, path, query, opaque, fragment] = ['scheme', 'host', 'path', 'query', 'opaque', 'fragment'].map(
    read,
  ) as [string, string, string, string, string, string];
  const userinfo = read('userinfo');
  // sprig parses the user information inside an artificial URL.
  const known = withAction('unable to parse userinfo in dict', () => parse(`proto://${userinfo}@host`).userinfo);
  const user = known === '' ? '' : `${known}@`;
  let text = scheme === '' ? '' : `${scheme}:`;
  if (opaque !== '') {
    text += opaque;
  } else {
    const hasAuthority = host !== '' || user !== '' || (scheme !== '' && path !== '');
    if (hasAuthority) text += `//${user}${escape(host, 'host')}`;
    const escaped = path === '*' ? '*' : escape(path, 'path');
    if (escaped !== '' && !escaped.startsWith('/') && host !== '') text += '/';
    if (byteLength(text) === 0 && String(escaped.split('/')[0]).includes(':')) text += './';
    text += escaped;
  }
  if (query !== '') text += `?${query}`;
  return fragment === '' ? text : `${text}#${escape(fragment, 'fragment')}`;
}

export const urlFunctions: FunctionTable = {
  urlJoin: goFunction([anyMap], joinUrl),
  urlParse: goFunction([string], parseUrl, { weight: 8 }),
};
