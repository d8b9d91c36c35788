import type { GoMethod, GoType, StructType } from '../../template/go-type.ts';
import { int32Type, intType, stringType } from '../../template/go-type.ts';
import { escapeGoJson } from '../../template/functions/go/json-encode.ts';
import type { CustomType } from '../kubernetes/go-types.ts';

/** Returns the template view of a pod type that has its own JSON methods. */
export function customGoType(type: CustomType): GoType {
  switch (type.format) {
    case 'quantity':
      return quantity;
    case 'int-or-string':
      return intOrString;
    case 'time':
      return time;
    case 'raw':
      return { kind: 'struct', name: type.goName, fields: [], toJson: jsonText };
  }
}

function jsonText(raw: unknown): string {
  return escapeGoJson(JSON.stringify(raw ?? null));
}

/** Returns a method with a string result, like `String`. */
export function stringMethod(call: (raw: unknown) => string, pointerReceiver: boolean): GoMethod {
  return { pointerReceiver, result: stringType, call };
}

/** resource.Quantity. Its number is private, and a pointer to it prints as text. */
const quantity: StructType = {
  kind: 'struct',
  name: 'resource.Quantity',
  fields: [{ name: 'Format', json: 'format', type: { kind: 'string', name: 'resource.Format' } }],
  methods: { String: stringMethod((raw) => (typeof raw === 'string' ? raw : '0'), true) },
  decode: (raw) => ({ format: typeof raw === 'string' && raw.endsWith('i') ? 'BinarySI' : 'DecimalSI' }),
  toJson: (raw) => JSON.stringify(typeof raw === 'string' ? raw : '0'),
};

const intOrString: StructType = {
  kind: 'struct',
  name: 'intstr.IntOrString',
  fields: [
    { name: 'Type', json: 'type', type: { kind: 'int64', name: 'intstr.Type' } },
    { name: 'IntVal', json: 'intVal', type: int32Type },
    { name: 'StrVal', json: 'strVal', type: stringType },
  ],
  methods: {
    String: stringMethod((raw) => String(typeof raw === 'string' ? raw : numberOf(raw)), true),
    IntValue: {
      pointerReceiver: true,
      result: intType,
      call: (raw) => (typeof raw !== 'string' ? numberOf(raw) : /^[+-]?\d+$/.test(raw) ? Number(raw) : 0),
    },
  },
  decode: (raw) => (typeof raw === 'string' ? { type: 1, strVal: raw } : { type: 0, intVal: numberOf(raw) }),
  toJson: (raw) => (typeof raw === 'string' ? jsonText(raw) : String(numberOf(raw))),
};

function numberOf(raw: unknown): number {
  return typeof raw === 'number' ? raw : 0;
}

/** metav1.Time: RFC 3339 in JSON, in UTC. */
const time: StructType = {
  kind: 'struct',
  name: 'v1.Time',
  fields: [],
  methods: {
    String: stringMethod(printTime, false),
    IsZero: { result: { kind: 'bool' }, call: (raw) => typeof raw !== 'string' },
    Unix: {
      result: { kind: 'int64' },
      call: (raw) => (typeof raw === 'string' ? Math.floor(Date.parse(raw) / 1000) : -62135596800),
    },
  },
  toJson: jsonText,
};

/** Formats a time like Go: `2026-11-20 17:00:00 +0000 UTC`. */
function printTime(raw: unknown): string {
  if (typeof raw !== 'string') return '0001-01-01 00:00:00 +0000 UTC';
  return `${raw.replace('T', ' ').replace(/Z$/, '')} +0000 UTC`;
}
