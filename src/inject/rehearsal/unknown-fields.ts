import type { StructType, ValueType } from '../kubernetes/go-types.ts';
import { podType } from '../kubernetes/pod-schema.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';

/** Names that strategic merge reads and takes away: `$patch`, `$setElementOrder/containers`, ... */
const directive = /^\$/;

/**
 * The paths of members that a Pod does not have, e.g. `spec.containers[0].imagee`: Go drops them without a word when it decodes.
 * @param most so many are enough
 */
export function unknownFields(part: JsonObject, most: number): string[] {
  const found: string[] = [];
  const look = (type: ValueType, value: unknown, path: string): void => {
    if (found.length >= most) return;
    if (type.kind === 'list' && Array.isArray(value)) {
      value.forEach((item, index) => {
        look(type.element, item, `${path}[${index}]`);
      });
    } else if (type.kind === 'map' && isJsonObject(value)) {
      for (const [key, item] of Object.entries(value)) look(type.value, item, `${path}.${key}`);
    } else if (type.kind === 'struct' && isJsonObject(value)) lookAtMembers(type, value, path);
  };
  const lookAtMembers = (type: StructType, value: JsonObject, path: string): void => {
    for (const [name, item] of Object.entries(value)) {
      if (directive.test(name)) continue;
      const field = type.byName.get(name) ?? type.byFoldedName.get(name.toLowerCase());
      const place = path === '' ? name : `${path}.${name}`;
      if (field === undefined) found.push(place);
      else look(field.type, item, place);
    }
  };
  look(podType, part, '');
  return found.slice(0, most);
}
