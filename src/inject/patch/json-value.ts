/** A JSON object whose members are not known beforehand. */
export type JsonObject = Record<string, unknown>;

/** Whether the value is a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sets an own member. A plain assignment would not: the name `__proto__` is an accessor that every object inherits. */
export function setMember(target: JsonObject, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[name] = value;
  }
}
