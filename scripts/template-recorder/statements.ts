import { argumentKinds, expression } from './expressions.ts';
import { numberLiteral, stringLiteral } from './literals.ts';
import type { Random } from './random.ts';

/** The names that are visible at a position of a template. */
interface Scope {
  readonly variables: readonly string[];
  readonly inRange: boolean;
  readonly depth: number;
}

/** Returns a template with nested statements of all kinds. */
export function statements(random: Random, call: () => string, delimiters: readonly [string, string]): string {
  return new Writer(random, call, delimiters).list({ variables: ['$'], inRange: false, depth: 0 }, 1 + random.below(5));
}

const texts = ['text', ' ', '\n', ' a ', '\n  b:\n', '\t', '- ', 'é', '}', '{', '"', '  \n  '];
const variableNames = ['$x', '$y', '$v', '$item', '$été'];

class Writer {
  readonly #random: Random;
  readonly #call: () => string;
  readonly #left: string;
  readonly #right: string;
  #defined = 0;

  constructor(random: Random, call: () => string, delimiters: readonly [string, string]) {
    this.#random = random;
    this.#call = call;
    [this.#left, this.#right] = delimiters;
  }

  list(scope: Scope, count: number): string {
    const variables = [...scope.variables];
    let text = '';
    for (let index = 0; index < count; index += 1) text += this.#statement({ ...scope, variables }, variables);
    return text;
  }

  #action(inner: string): string {
    const random = this.#random;
    const before = random.chance(0.15) ? `${this.#left}- ` : this.#left + random.pick(['', ' ', ' ', ' \n']);
    const after = random.chance(0.15) ? ` -${this.#right}` : random.pick(['', ' ', ' ']) + this.#right;
    return before + inner + after;
  }

  #statement(scope: Scope, variables: string[]): string {
    const random = this.#random;
    const nested = { ...scope, depth: scope.depth + 1 };
    const choice = scope.depth > 3 ? random.next() * 0.5 : random.next();
    if (choice < 0.2) return random.pick(texts);
    if (choice < 0.38) return this.#action(this.#pipeline(scope));
    if (choice < 0.45) return this.#declaration(scope, variables);
    if (choice < 0.48) return this.#comment();
    if (choice < 0.52 && (scope.inRange || random.chance(0.03)))
      return this.#action(random.pick(['break', 'continue']));
    if (choice < 0.66) return this.#if(nested);
    if (choice < 0.82) return this.#range(nested);
    if (choice < 0.9) return this.#with(nested);
    if (choice < 0.96) return this.#define(nested);
    return this.#block(nested);
  }

  #comment(): string {
    const body = this.#random.pick(['/* note */', '/**/', '/* two\nlines */', '/* {{ x }} */']);
    if (this.#random.chance(0.08)) return `${this.#left} ${body} ${this.#right}`;
    const before = this.#random.chance(0.3) ? '- ' : '';
    const after = this.#random.chance(0.3) ? ' -' : '';
    return this.#left + before + body + after + this.#right;
  }

  #operand(scope: Scope): string {
    const random = this.#random;
    switch (random.below(10)) {
      case 0:
        return random.pick(scope.variables);
      case 1:
        return `${random.pick(scope.variables)}.${random.pick(['word', 'map', 'k', 'name', 'num'])}`;
      case 2:
        return `(${this.#pipeline(scope)})`;
      case 3:
        return `(${this.#pipeline(scope)}).${random.pick(['a', 'k', 'nope', 'two.three'])}`;
      case 4:
        return stringLiteral(random);
      case 5:
        return numberLiteral(random);
      case 6:
        return random.pick([
          '.',
          '$',
          '.word',
          '.map.e.f.g',
          '.nested.one.two',
          '$.word',
          '$.list',
          'nil',
          'true',
          '.nul.x',
          '.word.x',
        ]);
      default:
        return expression(random, random.pick(argumentKinds));
    }
  }

  #pipeline(scope: Scope): string {
    const random = this.#random;
    const first = random.chance(0.5) ? this.#call() : this.#operand(scope);
    let text = first;
    while (random.chance(0.2))
      text += ` | ${random.pick(['quote', 'default "d"', 'toJson', 'printf "%v"', 'len', 'upper', 'print 1', 'trunc 3', 'nindent 2', 'html', 'not', 'eq 1', 'list'])}`;
    if (random.chance(0.02)) text += ` | ${this.#operand(scope)}`;
    return text;
  }

  #declaration(scope: Scope, variables: string[]): string {
    const random = this.#random;
    const known = variables.filter((name) => name !== '$');
    if (known.length > 0 && random.chance(0.45))
      return this.#action(`${random.pick(known)} = ${this.#pipeline(scope)}`);
    const name = random.pick(variableNames);
    const text = this.#action(`${name} ${random.chance(0.02) ? '=' : ':='} ${this.#pipeline(scope)}`);
    variables.push(name);
    return text;
  }

  #condition(scope: Scope, inner: string[]): string {
    if (!this.#random.chance(0.15)) return this.#pipeline(scope);
    const name = this.#random.pick(variableNames);
    inner.push(name);
    return `${name} := ${this.#pipeline(scope)}`;
  }

  #body(scope: Scope): string {
    return this.list(scope, 1 + this.#random.below(3));
  }

  #if(scope: Scope): string {
    const variables = [...scope.variables];
    const inside = { ...scope, variables };
    let text = this.#action(`if ${this.#condition(scope, variables)}`) + this.#body(inside);
    while (this.#random.chance(0.25))
      text += this.#action(`else if ${this.#condition(inside, variables)}`) + this.#body(inside);
    if (this.#random.chance(0.5)) text += this.#action('else') + this.#body(inside);
    return text + this.#action('end');
  }

  #with(scope: Scope): string {
    const variables = [...scope.variables];
    const inside = { ...scope, variables };
    let text = this.#action(`with ${this.#condition(scope, variables)}`) + this.#body(inside);
    if (this.#random.chance(0.2)) text += this.#action(`else with ${this.#pipeline(inside)}`) + this.#body(inside);
    if (this.#random.chance(0.4)) text += this.#action('else') + this.#body(inside);
    return text + this.#action('end');
  }

  #range(scope: Scope): string {
    const random = this.#random;
    const over = random.chance(0.8)
      ? random.pick([
          '$.list',
          '.words',
          '.map',
          '$.labels',
          'until 3',
          '$.ports',
          '3',
          '.none',
          '.nul',
          '.nope',
          '$.numbers',
          '.empty',
          'list 1 2',
          '$.nested',
          '(len $.word)',
          'splitList "," "p,q"',
        ])
      : this.#pipeline(scope);
    const variables = [...scope.variables];
    const known = variables.filter((name) => name !== '$');
    const form = random.below(5);
    let head = over;
    if (form === 0) {
      variables.push('$v');
      head = `$v := ${over}`;
    } else if (form < 3) {
      variables.push('$i', '$v');
      head = `$i, $v := ${over}`;
    } else if (form === 3 && known.length > 0) {
      head = `${known.length > 1 && random.chance(0.5) ? `${random.pick(known)}, ` : ''}${random.pick(known)} = ${over}`;
    }
    const inside = { ...scope, variables, inRange: true };
    let text = this.#action(`range ${head}`) + this.#body(inside);
    if (form < 3 && random.chance(0.5)) text += this.#action('$v');
    if (random.chance(0.3))
      text += this.#action('else') + this.#body(random.chance(0.2) ? inside : { ...inside, inRange: scope.inRange });
    return text + this.#action('end');
  }

  /** Returns a name. A body is generated before its name, so that no template calls itself. */
  #name(): string {
    this.#defined += this.#random.chance(0.9) ? 1 : 0;
    return `"d${this.#defined}"`;
  }

  #define(scope: Scope): string {
    const random = this.#random;
    const body = this.list({ variables: ['$'], inRange: false, depth: scope.depth + 1 }, 1 + random.below(2));
    const name = this.#name();
    const definition =
      scope.depth > 1 && !random.chance(0.1) ? '' : this.#action(`define ${name}`) + body + this.#action('end');
    const argument = random.chance(0.8)
      ? ` ${random.pick(['.', '$', '.map', '"x"', '.nope', '(list 1 2)', '$.word'])}`
      : '';
    return definition + this.#action(`template ${random.chance(0.06) ? '"nowhere"' : name}${argument}`);
  }

  #block(scope: Scope): string {
    const random = this.#random;
    const body = this.list({ variables: ['$'], inRange: false, depth: scope.depth + 1 }, 1 + random.below(2));
    return this.#action(`block ${this.#name()} ${random.pick(['.', '.word', '$.map'])}`) + body + this.#action('end');
  }
}
