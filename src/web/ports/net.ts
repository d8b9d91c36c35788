/** The part of Node's `node:net` that the engine uses, for browsers. */
const v4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?=\d)|$)){4}$/;
const group = /^[0-9a-f]{1,4}$/i;
const zone = /%[0-9a-z.:-]+$/i;

/** Returns 4 or 6 for the text of an address, else 0. */
export function isIP(text: string): 0 | 4 | 6 {
  return v4.test(text) ? 4 : isIPv6(text) ? 6 : 0;
}

export function isIPv6(text: string): boolean {
  const [head = '', tail, ...more] = text.replace(zone, '').split('::');
  if (more.length > 0) return false;
  const groups = [head, tail ?? ''].flatMap((part) => (part === '' ? [] : part.split(':')));
  const last = groups.at(-1) ?? '';
  const hasV4 = tail !== '' && v4.test(last);
  const size = groups.length + (hasV4 ? 1 : 0);
  const isFull = tail === undefined ? size === 8 : size <= 7;
  return isFull && (hasV4 ? groups.slice(0, -1) : groups).every((each) => group.test(each));
}
