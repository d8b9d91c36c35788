const padding = 0x3d;
const newlines: ReadonlySet<number | undefined> = new Set([0x0a, 0x0d]);

function isSymbol(byte: number | undefined): boolean {
  return byte !== undefined && /[A-Za-z0-9+/]/.test(String.fromCharCode(byte));
}

/**
 * Standard base64 with padding, line breaks ignored (Go's base64.StdEncoding).
 *
 * @returns The bytes, or the offset that Go reports for wrong input.
 */
export function decodeBase64(source: Uint8Array): Uint8Array | number {
  let at = 0;
  let symbols = 0;
  const skipNewlines = (): void => {
    while (newlines.has(source[at])) at += 1;
  };
  skipNewlines();
  while (at < source.length && isSymbol(source[at])) {
    at += 1;
    symbols += 1;
    skipNewlines();
  }
  const place = symbols % 4;
  // Go counts back the symbols of the unfinished group, as if no line break were among them.
  if (at >= source.length)
    return place === 0 ? Buffer.from(Buffer.from(source).toString('latin1'), 'base64') : at - place;
  if (source[at] !== padding || place < 2) return at;
  at += 1;
  if (place === 2) {
    skipNewlines();
    if (at === source.length) return at;
    if (source[at] !== padding) return at - 1;
    at += 1;
  }
  skipNewlines();
  return at < source.length ? at : Buffer.from(Buffer.from(source).toString('latin1'), 'base64');
}
