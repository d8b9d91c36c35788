import { limitOf } from '../../exec/meter.ts';

/** A lone half of a surrogate pair, written as an escape: valid JSON, no Unicode. */
const surrogateEscape = /\\u[dD][89a-fA-F]/;
const loneSurrogate = /[\ud800-\udfff]/gu;

/**
 * Go's json.Unmarshal into an `interface {}`: every number a float64, a lone surrogate U+FFFD.
 *
 * @throws Error when the text is no JSON, or a number is out of range.
 */
export function decodeJson(text: string): unknown {
  return decode(text, () => {
    throw new Error('json: cannot unmarshal number into Go value of type float64');
  });
}

/**
 * What Unmarshal leaves behind when its error is ignored: nil for text that is no JSON, and for each number that is out of range.
 */
export function decodeJsonLeniently(text: string): unknown {
  try {
    return decode(text, () => null);
  } catch (error) {
    if (limitOf(error) !== undefined) throw error;
    return null;
  }
}

function decode(text: string, outOfRange: () => null): unknown {
  const suspicious = surrogateEscape.test(text) || text.search(loneSurrogate) >= 0 || /[eE0-9]{3}/.test(text);
  if (!suspicious) return JSON.parse(text) as unknown;
  return JSON.parse(text, (_key, value: unknown) => {
    if (typeof value === 'string') return value.replace(loneSurrogate, '\ufffd');
    if (value === Infinity || value === -Infinity) return outOfRange();
    return isObject(value) ? wellFormedKeys(value) : value;
  }) as unknown;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wellFormedKeys(object: Record<string, unknown>): Record<string, unknown> {
  if (!Object.keys(object).some((key) => key.search(loneSurrogate) >= 0)) return object;
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key.replace(loneSurrogate, '\ufffd'), value]),
  );
}
