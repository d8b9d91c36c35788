import { orElse } from '../../exec/meter.ts';
import { isPlainMap } from '../../value-kind.ts';

/** An escape of half a surrogate pair, which is valid JSON but not valid Unicode. */
const surrogateEscape = /\\u[dD][89a-fA-F]/;
const loneSurrogate = /[\ud800-\udfff]/gu;

/**
 * Go's json.Unmarshal into an `interface {}`: numbers become float64, and lone surrogates U+FFFD.
 * @throws Error for invalid JSON, or a number out of range
 */
export function decodeJson(text: string): unknown {
  return decode(text, () => {
    throw new Error('json: cannot unmarshal number into Go value of type float64');
  });
}

/** Returns Go's value if Unmarshal's error is ignored: nil for invalid text or numbers. */
export function decodeJsonLeniently(text: string): unknown {
  return orElse(() => decode(text, () => null), null);
}

function decode(text: string, outOfRange: () => null): unknown {
  const suspicious = surrogateEscape.test(text) || text.search(loneSurrogate) >= 0 || /[eE0-9]{3}/.test(text);
  if (!suspicious) return JSON.parse(text) as unknown;
  return JSON.parse(text, (_key, value: unknown) => {
    if (typeof value === 'string') return value.replace(loneSurrogate, '\ufffd');
    if (value === Infinity || value === -Infinity) return outOfRange();
    return isPlainMap(value) ? wellFormedKeys(value) : value;
  }) as unknown;
}

function wellFormedKeys(object: Record<string, unknown>): Record<string, unknown> {
  if (!Object.keys(object).some((key) => key.search(loneSurrogate) >= 0)) return object;
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key.replace(loneSurrogate, '\ufffd'), value]),
  );
}
