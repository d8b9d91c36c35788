import type { Execution } from '../../exec/execution.ts';
import { formatFloatShortest } from './format-float.ts';
import { GoFunction } from './go-function.ts';
import type { Meter } from '../../exec/meter.ts';
import { printNode } from '../../parse/nodes.ts';
import { Printer } from './printer.ts';
import { pointerTo } from '../../go-type.ts';
import { typed, TypedValue } from '../../typed-value.ts';

/** Formats a value, which may be nil, as Go's `%v` does. */
export function formatValue(value: unknown, meter: Meter): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return formatFloatShortest(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return new Printer(meter).argument(value, 'v');
  }
}

/** Formats a value as an action prints it. @throws TemplateError for functions */
export function printValue(execution: Execution, value: unknown): string {
  if (value === undefined) return '<no value>';
  if (value instanceof GoFunction)
    throw execution.error(`can't print ${printNode(execution.node)} of type ${value.typeName}`);
  return formatValue(printableValue(value), execution.meter);
}

/** Follows pointers as text/template does; takes the address if String needs a pointer. */
export function printableValue(value: unknown): unknown {
  if (!(value instanceof TypedValue)) return value;
  const { type } = value;
  const target = type.kind === 'pointer' && !value.isNil ? typed(type.element, value.raw, true) : value;
  if (!(target instanceof TypedValue) || target.type.kind === 'pointer') return target;
  return target.addressable && target.type.methods?.String?.pointerReceiver === true
    ? new TypedValue(pointerTo(target.type), target.raw)
    : target;
}
