/** A lone half of a surrogate pair, written as an escape: valid JSON, no Unicode. */
const surrogateEscape = /\\u[dD][89a-fA-F]/;
const loneSurrogate = /[\ud800-\udfff]/gu;

/**
 * Go's json.Unmarshal into an `interface {}`: every number a float64, a lone surrogate U+FFFD.
 *
 * @throws Error when the text is no JSON, or a number is out of range.
 */
export function decodeJson(text: string): unknown {
  const suspicious = surrogateEscape.test(text) || loneSurrogate.test(text);
  return JSON.parse(text, suspicious || /[eE0-9]{3}/.test(text) ? revive : undefined) as unknown;
}

function revive(this: unknown, _key: string, value: unknown): unknown {
  if (typeof value === 'string') return value.replace(loneSurrogate, '\ufffd');
  if (value === Infinity || value === -Infinity)
    throw new Error('json: cannot unmarshal number into Go value of type float64');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return wellFormedKeys(value as Record<string, unknown>);
}

function wellFormedKeys(object: Record<string, unknown>): Record<string, unknown> {
  if (!Object.keys(object).some((key) => key.search(loneSurrogate) >= 0)) return object;
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key.replace(loneSurrogate, '\ufffd'), value]),
  );
}
