import { argumentKinds, expression } from './expressions.ts';
import type { ArgumentKind } from './expressions.ts';
import { familyOf, isExcluded, ordered, signatures } from './functions.ts';
import { formatString, numberLiteral, regularExpression, stringLiteral } from './literals.ts';
import type { Random } from './random.ts';
import { sample, specialTemplate } from './special.ts';
import { statements } from './statements.ts';
import { typedTemplates } from './typed.ts';

/** A template to render in Go and in this project. */
export interface TemplateCase {
  readonly template: string;
  /** The name of the data in `documents`. */
  readonly document: string;
  readonly functions: 'builtin' | 'sprig' | 'istio';
  readonly missingKey?: 'default' | 'zero' | 'error';
  readonly delimiters?: readonly [string, string];
  /** The covered combination: `function/position/kind`. */
  readonly covers?: string;
}

const numberKinds: readonly ArgumentKind[] = ['float', 'int', 'int64', 'float', 'int', 'string', 'bool'];

/** Returns an argument for a parameter of a signature. */
export function argument(random: Random, parameter: string, name = '', position = 0): string {
  switch (parameter) {
    case 'any':
      return expression(random, random.pick(argumentKinds.filter((kind) => !isExcluded(name, position, kind))));
    case 'number':
      return random.chance(0.1) ? numberLiteral(random) : expression(random, random.pick(numberKinds));
    case 'format':
      return formatString(random);
    case 'small':
      return String(random.pick([0, 1, 1, 2, 2, 3, 4, 5, 6, 8, 12, 30, -1, -3]));
    case 'expression':
      return regularExpression(random);
    case 'string':
      return random.chance(0.25) ? stringLiteral(random) : expression(random, 'string');
    case 'layout':
    case 'zone':
      return sample(random, parameter);
    case 'list':
      return expression(random, random.pick<ArgumentKind>(['list', 'list', 'strings', 'ints']));
    default:
      return expression(random, parameter as ArgumentKind);
  }
}

/** Returns the parameters of a signature. A repeated parameter occurs up to three times. */
function parametersOf(random: Random, name: string): string[] {
  const signature = signatures[name] ?? [];
  if (signature.at(-1) !== '…') return [...signature];
  const fixed = signature.slice(0, -1);
  const extra = random.below(3);
  return [...fixed, ...Array.from({ length: extra }, () => String(fixed.at(-1)))];
}

/** Returns a call, mostly with suitable arguments, and sometimes as a pipeline. */
export function call(random: Random, name: string): string {
  const args = parametersOf(random, name).map((parameter, position) =>
    argument(random, random.chance(0.08) ? 'any' : parameter, name, position),
  );
  if (random.chance(0.03)) args.pop();
  if (random.chance(0.02)) args.push(argument(random, 'any', name, args.length));
  return finish(name, spell(random, name, args));
}

function spell(random: Random, name: string, args: readonly string[]): string {
  const last = args.at(-1);
  if (last === undefined || !random.chance(0.3)) return [name, ...args].join(' ');
  return `${last} | ${[name, ...args.slice(0, -1)].join(' ')}`;
}

function finish(name: string, text: string): string {
  const after = ordered[name];
  return after === undefined ? text : `${text} | ${after}`;
}

/** Returns calls of each function with each kind of argument at each position. */
export function* systematic(random: Random): Generator<TemplateCase> {
  for (const name of Object.keys(signatures)) {
    const parameters = parametersOf(random, name);
    for (let at = 0; at < Math.max(parameters.length, 1); at += 1) {
      for (const kind of argumentKinds) {
        if (isExcluded(name, at, kind)) continue;
        const args = parameters.map((one, index) => (index === at ? expression(random, kind) : argument(random, one)));
        if (parameters.length === 0) args.push(expression(random, kind));
        const template = `{{ ${finish(name, spell(random, name, args))} }}`;
        yield { template, document: 'plain', functions: familyOf(name), covers: `${name}/${at}/${kind}` };
      }
    }
  }
}

const names = Object.keys(signatures);

/** Returns an endless sequence of random templates. */
export function* randomCases(random: Random): Generator<TemplateCase> {
  for (;;) yield oneCase(random);
}

function oneCase(random: Random): TemplateCase {
  const document = random.chance(0.92) ? 'plain' : random.pick(['list', 'scalar', 'null']);
  const choice = random.next();
  if (choice < 0.25) return { template: specialTemplate(random), document, functions: 'istio' };
  if (choice < 0.45) {
    const name = random.pick(names);
    return { template: `{{ ${call(random, name)} }}`, document, functions: familyOf(name) };
  }
  if (choice < 0.55) return typedCase(random);
  const functions = random.pick(['sprig', 'istio', 'istio'] as const);
  const usable = functions === 'istio' ? names : names.filter((name) => familyOf(name) === 'sprig');
  const callAny = (): string => call(random, random.pick(usable));
  const delimiters = random.chance(0.04)
    ? random.pick([
        ['[[', ']]'],
        ['<%', '%>'],
        ['{', '}'],
      ] as const)
    : undefined;
  let template = statements(random, callAny, delimiters ?? ['{{', '}}']);
  if (random.chance(0.12)) template = damaged(random, template);
  return {
    template,
    document,
    functions,
    ...(random.chance(0.15) ? { missingKey: random.pick(['zero', 'error'] as const) } : {}),
    ...(delimiters === undefined ? {} : { delimiters }),
  };
}

function typedCase(random: Random): TemplateCase {
  return {
    template: typedTemplates(random),
    document: random.chance(0.8) ? 'garage' : 'garage-empty',
    functions: 'istio',
    ...(random.chance(0.1) ? { missingKey: random.pick(['zero', 'error'] as const) } : {}),
  };
}

/** Removes, replaces or inserts a character, which mostly causes a syntax error. */
function damaged(random: Random, template: string): string {
  const at = random.below(template.length);
  const put = random.pick([
    '{{',
    '}}',
    '(',
    ')',
    '|',
    '"',
    '`',
    '$',
    '.',
    ' ',
    '-',
    '/*',
    ',',
    ':=',
    '=',
    '%',
    'é',
    '0',
    '{{end}}',
    '{{else}}',
  ]);
  const removed = random.chance(0.5) ? 1 : 0;
  return template.slice(0, at) + (random.chance(0.6) ? put : '') + template.slice(at + removed);
}
