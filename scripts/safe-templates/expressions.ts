import { hostileData } from '../hostile/hostile-texts.ts';
import type { Random } from '../template-recorder/random.ts';
import { functionsGiving, signatureOf, type Kind } from './functions.ts';

/** The annotations and labels that templates read. */
export const annotationNames = ['example.com/a', 'example.com/b', 'example.com/c'] as const;
export const labelNames = ['team', 'app'] as const;

const literals: Readonly<Record<Kind, readonly string[]>> = {
  text: hostileData.literals,
  bool: ['true', 'false'],
  number: ['0', '1', '2', '3', '8080', '1.5', '(int64 7)', '-1'],
  list: ['(list "x" "y")', '(list 1 2)', '(list)', '(splitList "," "a,b,c")', '(until 3)', '(list "x" nil 2.5)'],
  map: ['(dict "k" "v")', '(dict "a" 1 "b" "x")', '(dict)', '(dict "k" (list 1 2))', '(dict "x" true)'],
  any: ['nil', '"x"', '1', 'true', '(dict "k" "v")'],
};
const { formats } = hostileData;
const patterns = ['^[a-z]+$', '[0-9]+', '.', '^$', 'x', '^x', 'true|yes', '[^a-z]', '(a)(b)?', '\\\\s', '[A-Z]'];
const kinds: readonly Kind[] = ['text', 'text', 'text', 'bool', 'number', 'list', 'map'];

/** The variables that expressions may use. */
export interface Scope {
  /** The variables that contain an author's text. */
  readonly variables: { readonly name: string; readonly kind: Kind }[];
}

/** A source of random expressions. Each contains a text of the author, unless it is a constant. */
export class Expressions {
  readonly #random: Random;
  readonly scope: Scope = { variables: [] };

  constructor(random: Random) {
    this.#random = random;
  }

  /** Returns an operand with a text of the author, in parentheses if necessary. */
  operand(kind: Kind, depth: number): string {
    const random = this.#random;
    if (depth <= 0 || random.chance(0.25)) return this.#authors(kind);
    const result = kind === 'any' ? random.pick(kinds) : kind;
    // A function in `any` returns the kind of its arguments.
    const name = random.pick(functionsGiving[random.chance(0.22) ? 'any' : result]);
    return `(${this.call(name, result, depth - 1)})`;
  }

  /** Calls `make` while no variables are in scope. */
  withoutVariables<Result>(make: () => Result): Result {
    const kept = this.scope.variables.splice(0);
    const result = make();
    this.scope.variables.push(...kept);
    return result;
  }

  /** Returns a call with an author's text in at least one argument. */
  call(name: string, kind: Kind, depth: number): string {
    const random = this.#random;
    if (name === 'annotation')
      return `annotation $.ObjectMeta "${random.pick(annotationNames)}" ${this.#rest('any', depth)}`;
    if (name === 'call' || name === 'hello') return `print ${this.operand('text', depth)}`;
    if (name === 'index') return this.#index(kind, depth);
    if (name === 'ternary') {
      const operands = [this.#rest(kind, depth), this.#rest(kind, depth)];
      return `ternary ${operands.join(' ')} ${this.operand('bool', depth)}`;
    }
    const parameters = this.#parameters(name);
    const hot = random.below(Math.max(1, parameters.length));
    const own = functionsGiving.any.includes(name);
    const operands = parameters.map((one, index) =>
      this.#argument(own && one === 'any' ? kind : one, depth, index === hot),
    );
    const last = operands.at(-1);
    if (last === undefined || !random.chance(0.3)) return [name, ...operands].join(' ');
    return `${last} | ${[name, ...operands.slice(0, -1)].join(' ')}`;
  }

  /** Returns a constant, or an expression with a text of the author. */
  #rest(kind: Kind, depth: number): string {
    return this.#random.chance(0.65) ? this.literal(kind) : this.operand(kind, depth);
  }

  literal(kind: Kind): string {
    return this.#random.pick(literals[kind]);
  }

  #parameters(name: string): string[] {
    const signature = signatureOf(name);
    if (signature.at(-1) !== '…') return [...signature];
    const fixed = signature.slice(0, -1);
    return [...fixed, ...Array.from({ length: this.#random.below(2) }, () => fixed.at(-1)!)];
  }

  #argument(parameter: string, depth: number, hot: boolean): string {
    const random = this.#random;
    const some = (kind: Kind): string => (hot ? this.operand(kind, depth) : this.#rest(kind, depth));
    switch (parameter) {
      case 'format':
        return `"${random.pick(formats)}"`;
      case 'expression':
        return random.chance(0.1) ? this.operand('text', depth) : `"${random.pick(patterns)}"`;
      case 'small':
        if (hot && random.chance(0.5)) return `(mod (len ${this.operand('text', depth)}) 9 | int)`;
        return String(random.pick([0, 1, 1, 2, 3, 5, 8, -1]));
      case 'layout':
        return random.chance(0.2)
          ? some('text')
          : `"${random.pick(['2006-01-02', 'Jan _2 15:04:05.000', 'Monday MST', '-0700'])}"`;
      case 'zone':
        return random.chance(0.2) ? some('text') : `"${random.pick(['UTC', 'Europe/Berlin', 'nowhere'])}"`;
      case 'time':
      case 'int64':
        return random.pick([`(len ${some('text')} | int64)`, `(toDate "2006-01-02" ${some('text')})`]);
      case 'meta':
        return '$.ObjectMeta';
      case 'name':
        return `"${random.pick(annotationNames)}"`;
      case 'containers':
        return '$.Spec.Containers';
      case 'duration':
        return '$.MeshConfig.ConnectTimeout';
      case 'mesh':
        return '$.MeshConfig';
      case 'message':
        return '$.MeshConfig';
      case 'stringMap':
        return random.pick([
          '$.ObjectMeta.Annotations',
          '$.ObjectMeta.Labels',
          `(strdict "k" ${this.operand('text', depth)})`,
        ]);
      case 'string':
        return some('text');
      case 'strings':
      case 'ints':
        return some('list');
      case 'text':
      case 'bool':
      case 'number':
      case 'list':
      case 'map':
        return some(parameter);
      default:
        return some(random.pick(kinds));
    }
  }

  #index(kind: Kind, depth: number): string {
    const index = this.#random.below(3);
    switch (this.#random.below(5)) {
      case 0:
        return `index ${this.operand('text', depth)} ${index}`;
      case 1:
        return `index (list ${this.literal(kind)} ${this.literal(kind)} ${this.literal(kind)}) (mod (len ${this.operand('text', depth)}) 3 | int)`;
      case 2:
        return `index (dict "x" ${this.literal(kind)} "debug" ${this.literal(kind)} "" ${this.literal(kind)}) ${this.operand('text', depth)}`;
      default:
        return `index (list ${this.operand(kind, depth)} ${this.#rest(kind, depth)}) ${index % 2}`;
    }
  }

  /** Returns an expression that reads a text of the author. */
  #authors(kind: Kind): string {
    const random = this.#random;
    const variables = this.scope.variables.filter((one) => one.kind === kind);
    if (variables.length > 0 && random.chance(0.5)) return random.pick(variables).name;
    const text = this.#text();
    const annotations = '$.ObjectMeta.Annotations';
    switch (kind) {
      case 'text':
      case 'any':
        return text;
      case 'bool':
        return random.pick([
          `(isset ${annotations} "${random.pick(annotationNames)}")`,
          `(eq ${text} ${this.literal('text')})`,
          `(ne ${text} ${this.literal('text')})`,
          `(not ${text})`,
          `(eq "true" ${text})`,
          `(contains ${this.literal('text')} ${text})`,
          `(regexMatch "${random.pick(patterns)}" ${text})`,
          `(and ${text} true)`,
          `(empty ${text})`,
          `(hasPrefix ${this.literal('text')} ${text})`,
        ]);
      case 'number':
        return random.pick([
          `(len ${text})`,
          `(int ${text})`,
          `(atoi ${text})`,
          `(int64 ${text})`,
          `(len ${annotations})`,
          `(float64 ${text})`,
        ]);
      case 'list':
        return random.pick([
          `(splitList "," ${text})`,
          `(list ${text})`,
          `(list ${this.literal('text')} ${text})`,
          `(regexSplit "," ${text} -1)`,
          `(keys (dict "k" ${text} ${text} 1) | sortAlpha)`,
        ]);
      case 'map':
        return random.pick([
          `(dict "k" ${text})`,
          `(dict ${text} "v")`,
          `(fromJson ${text})`,
          `(split "," ${text})`,
          `(dict "x" (list ${text}))`,
        ]);
    }
  }

  #text(): string {
    const random = this.#random;
    const name = random.pick(random.chance(0.6) ? [annotationNames[0]] : annotationNames);
    switch (random.below(16)) {
      case 0:
      case 1:
        return `(annotation $.ObjectMeta "${name}" ${this.literal('text')})`;
      case 2:
        return `(annotation $.ObjectMeta \`${name}\` $.ObjectMeta.Name)`;
      case 3:
        return `(index $.ObjectMeta.Labels "${random.pick(labelNames)}")`;
      case 4:
        return `$.ObjectMeta.Labels.${random.pick(labelNames)}`;
      case 5:
        return `(index $.ObjectMeta.Annotations "${name}" | default ${this.literal('text')})`;
      case 6:
        return `(valueOrDefault (index $.ObjectMeta.Annotations "${name}") ${this.literal('text')})`;
      case 7:
        return random.pick([
          '(toJSON $.ObjectMeta.Annotations)',
          '(toJson $.ObjectMeta.Labels)',
          '(print $.ObjectMeta.Annotations)',
          '(toYaml $.ObjectMeta.Labels)',
          '(structToJSON $.ObjectMeta.Annotations)',
          '(toJsonMap $.ObjectMeta.Labels (strdict "k" "v"))',
          '(index (mergeMaps $.ObjectMeta.Labels $.ObjectMeta.Annotations) "team")',
          '(print (omit $.ObjectMeta.Annotations "example.com/b"))',
        ]);
      default:
        return `(index $.ObjectMeta.Annotations "${name}")`;
    }
  }
}
