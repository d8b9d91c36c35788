/** A JSON object with arbitrary members. */
export type JsonObject = Record<string, unknown>;

/** Reports whether the value is a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sets an own member, even `__proto__`, which an assignment would treat as an accessor. */
export function setMember(target: JsonObject, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[name] = value;
  }
}
