import {
  anySliceType,
  anyType,
  boolType,
  float64Type,
  int32Type,
  int64Type,
  intType,
  mapOf,
  pointerTo,
  sliceOf,
  stringMapType,
  stringSliceType,
  stringType,
  uint32Type,
} from '../go-type.ts';
import type { GoType, StructType } from '../go-type.ts';
import { property, TypedValue } from '../typed-value.ts';

/** Typed data for tests: the types of scripts/template-recorder/garage.go. */
const colors = ['RED', 'GREEN', 'BLUE'];

const colorType: GoType = {
  kind: 'int32',
  name: 'main.Color',
  decode: (raw) => Math.max(colors.indexOf(raw as string), 0),
  toJson: (raw) => JSON.stringify(raw ?? 'RED'),
  methods: { String: { result: stringType, call: (raw) => (colors.includes(raw as string) ? raw : 'RED') } },
};
const partType: GoType = { kind: 'string', name: 'main.Part' };

function nameOf(person: unknown): string {
  return (property(person, 'name') as string | undefined) ?? '';
}

function mustExist(person: unknown): void {
  if (person === null) throw new Error('value method main.Person called using nil *Person pointer');
}

const personType: StructType = {
  kind: 'struct',
  name: 'main.Person',
  get fields() {
    return [
      { name: 'Name', json: 'name', type: stringType },
      { name: 'Age', json: 'age', type: pointerTo(int64Type), omitEmpty: true },
      { name: 'Friend', json: 'friend', type: pointerTo(personType), omitEmpty: true },
    ];
  },
  get methods() {
    return personMethods;
  },
};
const personMethods: NonNullable<StructType['methods']> = {
  GetFriend: { pointerReceiver: true, result: pointerTo(personType), call: (raw) => property(raw, 'friend') },
  GetName: { pointerReceiver: true, result: stringType, call: nameOf },
  Greet: {
    pointerReceiver: true,
    parameters: [stringType, intType],
    result: stringType,
    call: (raw, greeting, times) => `${greeting as string} ${nameOf(raw)} ${times as bigint}`,
  },
  Join: {
    parameters: [stringType],
    variadic: true,
    result: stringType,
    call: (raw, ...parts) => {
      mustExist(raw);
      return `${nameOf(raw)}[${(parts as string[]).join(' ')}]`;
    },
  },
  Fail: {
    result: stringType,
    call: (raw) => {
      mustExist(raw);
      throw new Error(`${nameOf(raw)} fails`);
    },
  },
};

const wheelFields = [{ name: 'Size', json: 'size', type: intType }];
const wheelType: StructType = { kind: 'struct', name: 'main.Wheel', fields: wheelFields };
const carType: StructType = {
  kind: 'struct',
  name: 'main.Car',
  fields: [
    { name: 'Make', json: 'make', type: stringType },
    { name: 'Color', json: 'color', type: colorType },
    { name: 'Part', json: 'part', type: partType, omitEmpty: true },
    { name: 'Wheels', json: 'wheels', type: sliceOf(wheelType), omitEmpty: true },
    { name: 'Driver', json: 'driver', type: pointerTo(personType), omitEmpty: true },
    { name: 'Doors', json: 'doors', type: int32Type, omitEmpty: true },
    { name: 'Price', json: 'price', type: pointerTo(float64Type), omitEmpty: true },
    { name: 'Fast', json: 'fast', type: pointerTo(boolType), omitEmpty: true },
  ],
};
const addressType: StructType = {
  kind: 'struct',
  name: 'main.Address',
  fields: [
    { name: 'Street', json: 'street', type: stringType, omitEmpty: true },
    { name: 'Zip', json: 'zip', type: stringType, omitEmpty: true },
  ],
  methods: {
    String: {
      pointerReceiver: true,
      result: stringType,
      call: (raw) =>
        raw === null ? 'nil' : `&Address{${(property(raw, 'street') as string | undefined) ?? ''},${(property(raw, 'zip') as string | undefined) ?? ''}}`,
    },
  },
};
const metaType: StructType = {
  kind: 'struct',
  name: 'main.Meta',
  fields: [
    { name: 'Name', json: 'name', type: stringType, omitEmpty: true },
    { name: 'Labels', json: 'labels', type: stringMapType, omitEmpty: true },
  ],
};

export const garageType: StructType = {
  kind: 'struct',
  name: 'main.Garage',
  fields: [
    { name: 'Meta', json: '', type: metaType, inline: true },
    { name: 'Owner', json: 'owner', type: pointerTo(personType), omitEmpty: true },
    { name: 'Cars', json: 'cars', type: sliceOf(carType) },
    { name: 'Spare', json: 'spare', type: sliceOf(pointerTo(wheelType)), omitEmpty: true },
    { name: 'Notes', json: 'notes', type: stringMapType, omitEmpty: true },
    { name: 'Values', json: 'values', type: mapOf(anyType) },
    { name: 'Stock', json: 'stock', type: { kind: 'map', key: partType, element: int32Type }, omitEmpty: true },
    { name: 'Any', json: 'any', type: anyType },
    { name: 'List', json: 'list', type: anySliceType },
    { name: 'Open', json: 'open', type: boolType },
    { name: 'Rating', json: 'rating', type: float64Type, omitEmpty: true },
    { name: 'Floors', json: 'floors', type: intType },
    { name: 'Number', json: 'number', type: int64Type, omitEmpty: true },
    { name: 'Size', json: 'size', type: uint32Type },
    { name: 'Tags', json: 'tags', type: stringSliceType },
    { name: 'People', json: 'people', type: mapOf(pointerTo(personType)), omitEmpty: true },
    { name: 'Address', json: 'address', type: addressType },
    { name: 'Extra', json: 'extra', type: addressType, omitZero: true },
  ],
};

/** Makes a garage as Go programs pass it: by pointer. */
export function garage(json: unknown): TypedValue {
  return new TypedValue(pointerTo(garageType), json);
}
