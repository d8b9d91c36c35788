import { noFlags, type Flags } from './format-flags.ts';
import { Printer } from './printer.ts';
import { cost, type Meter } from '../../exec/meter.ts';
import { formatValue } from './print-value.ts';
import { Integer } from '../../integer.ts';
import { kindOf, typeNameOf, underlying } from '../../value-kind.ts';

/** The limit of widths and precisions, as in Go. */
const maximumSize = 1_000_000;

/** Go's fmt.Sprint: puts a space between two values if neither is a string. */
export function sprint(values: readonly unknown[], meter: Meter): string {
  let text = '';
  let afterString = true;
  for (const value of values) {
    const isString = kindOf(value) === 'string';
    if (!isString && !afterString) text += ' ';
    text += formatValue(value, meter);
    afterString = isString;
  }
  return text;
}

/** Go's fmt.Sprintln: puts spaces between values, and a newline at the end. */
export function sprintln(values: readonly unknown[], meter: Meter): string {
  return `${values.map((value) => formatValue(value, meter)).join(' ')}\n`;
}

/** Go's fmt.Sprintf, including Go's messages about wrong formats. */
export function sprintf(format: string, values: readonly unknown[], meter: Meter): string {
  // A fast path for formats without verbs.
  if (!format.includes('%')) return values.length === 0 ? format : format + extra(new Printer(meter), values, 0);
  return new Formatter(format, values, meter).run();
}

function extra(printer: Printer, values: readonly unknown[], from: number): string {
  const items = values.slice(from).map((value) => {
    if (value === undefined || value === null) return '<nil>';
    return `${typeNameOf(value)}=${printer.argument(value, 'v')}`;
  });
  return `%!(EXTRA ${items.join(', ')})`;
}

const flagNames: Readonly<Record<string, 'sharp' | 'zero' | 'plus' | 'minus' | 'space'>> = {
  '#': 'sharp',
  '0': 'zero',
  '+': 'plus',
  '-': 'minus',
  ' ': 'space',
};

class Formatter {
  readonly #format: string;
  readonly #values: readonly unknown[];
  readonly #printer: Printer;
  readonly #meter: Meter;
  #at = 0;
  #next = 0;
  #reordered = false;
  #goodIndex = true;
  /** Whether the rest of the format has no closing bracket, to avoid repeated searches. */
  #isUnclosed = false;
  /** Whether an explicit index such as [3] came last. */
  #afterIndex = false;

  constructor(format: string, values: readonly unknown[], meter: Meter) {
    this.#format = format;
    this.#values = values;
    this.#printer = new Printer(meter);
    this.#meter = meter;
  }

  run(): string {
    const format = this.#format;
    let text = '';
    while (this.#at < format.length) {
      const percent = format.indexOf('%', this.#at);
      text += format.slice(this.#at, percent < 0 ? undefined : percent);
      if (percent < 0) break;
      this.#at = percent + 1;
      text += this.#verb();
    }
    if (this.#reordered || this.#next >= this.#values.length) return text;
    this.#printer.flags = { ...noFlags };
    return text + extra(this.#printer, this.#values, this.#next);
  }

  #verb(): string {
    this.#meter.spend(cost.step);
    const flags = this.#flags();
    this.#printer.flags = flags;
    this.#index();
    let complaint = this.#width(flags);
    complaint += this.#precision(flags);
    if (!this.#afterIndex) this.#index();
    const code = this.#format.codePointAt(this.#at);
    if (code === undefined) return `${complaint}%!(NOVERB)`;
    const verb = String.fromCodePoint(code);
    this.#at += verb.length;
    if (verb === '%') return `${complaint}%`;
    if (!this.#goodIndex) return `${complaint}%!${verb}(BADINDEX)`;
    if (this.#next >= this.#values.length) return `${complaint}%!${verb}(MISSING)`;
    if (verb === 'v' || verb === 'w') {
      flags.sharpV = flags.sharp;
      flags.sharp = false;
      flags.plusV = flags.plus;
      flags.plus = false;
    }
    const value = this.#values[this.#next];
    this.#next += 1;
    return complaint + this.#printer.argument(value, verb);
  }

  #flags(): Flags {
    const flags = { ...noFlags };
    this.#goodIndex = true;
    for (; ; this.#at += 1) {
      const name = flagNames[this.#format.charAt(this.#at)];
      if (name === undefined) return flags;
      flags[name] = true;
    }
  }

  /** Parses [n], which makes the n-th argument the next argument. */
  #index(): void {
    this.#afterIndex = false;
    if (this.#format[this.#at] !== '[') return;
    this.#reordered = true;
    const close = this.#isUnclosed ? -1 : this.#format.indexOf(']', this.#at);
    if (close < 0) {
      this.#isUnclosed = true;
      this.#goodIndex = false;
      this.#at += 1;
      return;
    }
    const digits = this.#format.slice(this.#at + 1, close);
    this.#at = close + 1;
    const index = /^[0-9]{1,7}$/.test(digits) ? Number(digits) - 1 : undefined;
    this.#afterIndex = index !== undefined;
    if (index !== undefined && index >= 0 && index < this.#values.length) this.#next = index;
    else this.#goodIndex = false;
  }

  #width(flags: Flags): string {
    if (this.#format[this.#at] !== '*') {
      flags.width = this.#number();
      if (this.#afterIndex && flags.width !== undefined) this.#goodIndex = false;
      return '';
    }
    const width = this.#argument();
    if (width === undefined) return '%!(BADWIDTH)';
    flags.width = Math.abs(width);
    if (width < 0) {
      flags.minus = true;
      flags.zero = false;
    }
    return '';
  }

  #precision(flags: Flags): string {
    // A point at the very end is a verb.
    if (this.#format[this.#at] !== '.' || this.#at + 1 >= this.#format.length) return '';
    this.#at += 1;
    if (this.#afterIndex) this.#goodIndex = false;
    this.#index();
    if (this.#format[this.#at] !== '*') {
      flags.precision = this.#number() ?? 0;
      return '';
    }
    const precision = this.#argument();
    if (precision === undefined || precision < 0) return '%!(BADPREC)';
    flags.precision = precision;
    return '';
  }

  /** Parses digits of the format; a number that is too large consumes the rest of the format. */
  #number(): number | undefined {
    const [digits] = /^[0-9]*/.exec(this.#format.slice(this.#at)) as unknown as [string];
    if (Number(digits.slice(0, -1)) > maximumSize) {
      this.#at = this.#format.length;
      return undefined;
    }
    this.#at += digits.length;
    return digits === '' ? undefined : Number(digits);
  }

  /** Parses *, for which an argument gives the width or precision. */
  #argument(): number | undefined {
    this.#at += 1;
    this.#afterIndex = false;
    if (this.#next >= this.#values.length) return undefined;
    const value = underlying(this.#values[this.#next]);
    this.#next += 1;
    const number = typeof value === 'bigint' ? value : value instanceof Integer ? value.value : undefined;
    return number === undefined || number > maximumSize || number < -maximumSize ? undefined : Number(number);
  }
}
