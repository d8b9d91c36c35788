import type { Random } from '../template-recorder/random.ts';
import { annotationNames, labelNames, type Expressions } from './expressions.ts';
import type { Kind } from './functions.ts';

const shownKinds: readonly Kind[] = ['text', 'text', 'text', 'text', 'text', 'bool', 'number', 'list', 'map', 'any'];

/** The positions of a template. Most are fixed; some are expressions with an author's text. */
export class TemplateSlots {
  /** The number of positions that depend on an author. */
  hot = 0;
  /** The `define` actions of further templates. */
  readonly definitions: string[] = [];
  readonly #random: Random;
  readonly #expressions: Expressions;
  readonly #heat: number;

  constructor(random: Random, expressions: Expressions, heat: number) {
    this.#random = random;
    this.#expressions = expressions;
    this.#heat = heat;
  }

  condition(): string {
    this.hot += 1;
    const [random, expressions] = [this.#random, this.#expressions];
    return expressions.operand(random.pick(['bool', 'bool', 'bool', 'text', 'any', 'list', 'number']), random.below(3));
  }

  /** Returns a scalar. `literal` is its fixed text, with quotes. */
  scalar(literal: string, kind: Kind = 'text'): string {
    const random = this.#random;
    if (!random.chance(this.#heat)) return literal;
    this.hot += 1;
    const inner = literal.replace(/^"(.*)"$/, '$1');
    switch (random.below(kind === 'text' ? 27 : 30)) {
      case 0:
        return `{{ if ${this.condition()} }}${literal}{{ else }}${this.#other(literal)}{{ end }}`;
      case 1:
        return `{{ with ${this.#text()} }}{{ . | quote }}{{ else }}${literal}{{ end }}`;
      case 2:
        return `"${inner}{{ ${this.#text()} }}"`;
      case 3:
        return `${inner}-{{ ${this.#text()} }}`;
      case 4:
        return `{{ ${this.#text()} }}${inner}`;
      case 5:
        return `'{{ ${this.#shown()} }}'`;
      case 6:
        return `"{{ ${this.#shown()} }}"`;
      case 7:
        return `{{ ${this.#shown()} }}`;
      case 8:
        return `${literal} # {{ ${this.#text()} }}`;
      case 9:
        return `{{ printf "${inner.replace(/[%"\\]/g, '')}%v" ${this.#text()} | quote }}`;
      case 10:
        // A definition does not see the variables outside it.
        this.definitions.push(
          `{{ define "t${this.definitions.length}" }}{{ ${this.#expressions.withoutVariables(() => this.#text())} | quote }}{{ end }}`,
        );
        return `{{ template "t${this.definitions.length - 1}" $ }}`;
      case 11:
        return `{{ range $i, $v := ${this.#expressions.operand('list', 1)} }}{{ if $i }}{{ break }}{{ end }}{{ $v | toString | quote }}{{ else }}${literal}{{ end }}`;
      case 12:
        return `{{ ${this.#shown()} | squote }}`;
      case 13:
        return `{{ ${this.#shown()} | toJson }}`;
      case 14:
        return `{{ ${this.#shown()} | toString | quote }}`;
      case 15:
        return `{{ ternary ${this.#operand(literal)} ${this.#operand(this.#other(literal))} ${this.#expressions.operand('bool', 1)} }}`;
      case 16:
        return `{{ or ${this.#text()} ${this.#operand(literal)} | quote }}`;
      case 17:
        return `{{ and ${this.#expressions.operand('any', 1)} ${this.#operand(literal)} }}`;
      case 18:
      case 19:
        return `{{ annotation $.ObjectMeta "${random.pick(annotationNames)}" ${this.#operand(literal)} | quote }}`;
      case 20:
      case 21:
      case 22:
        return `{{ ${this.#text()} | quote }}`;
      case 23:
      case 24:
        return `"${inner}{{ ${this.#expressions.operand('text', 0)} }}"`;
      case 25:
        return `{{ printf "${inner.replace(/[%"\\]/g, '')}%s" ${this.#expressions.operand('text', 0)} | quote }}`;
      case 26:
        return `{{ default ${this.#operand(literal)} ${this.#text()} }}`;
      case 27:
        return `{{ eq ${this.#text()} "${random.pick(['true', 'x', 'yes', 'debug'])}" }}`;
      case 28:
        return `{{ ${this.#expressions.operand(kind, 2)} }}`;
      default:
        return `{{ annotation $.ObjectMeta "${random.pick(annotationNames)}" ${this.#operand(literal)} }}`;
    }
  }

  /** Returns a key of a map. */
  key(literal: string): string {
    if (!this.#random.chance(this.#heat / 4)) return literal;
    this.hot += 1;
    return this.#random.pick([
      `{{ ${this.#text()} }}`,
      `${literal}{{ ${this.#text()} }}`,
      `{{ ${this.#text()} | quote }}`,
      `{{ if ${this.condition()} }}${literal}{{ else }}x${literal}{{ end }}`,
    ]);
  }

  /** Returns lines that an author may switch on or off. */
  block(lines: string): string {
    const random = this.#random;
    if (!random.chance(this.#heat / 2)) return lines;
    switch (random.below(6)) {
      case 0:
        return `{{- range until 1 }}{{- if ${this.condition()} }}{{- continue }}{{- end }}\n${lines}{{- end }}\n`;
      case 1:
        return `{{- with ${this.condition()} }}\n${lines}{{- end }}\n`;
      case 2:
        return `{{- if not ${this.condition()} }}\n${lines}{{- end }}\n`;
      default:
        return `{{- if ${this.condition()} }}\n${lines}{{- end }}\n`;
    }
  }

  /** Returns an action that prints a whole structure from an author's text, indented by `depth`. */
  structure(depth: number): string {
    this.hot += 1;
    const random = this.#random;
    const expressions = this.#expressions;
    return random.pick([
      () => `{{ toYaml ${expressions.operand('map', 2)} | nindent ${depth} }}`,
      () => `{{ toJson ${expressions.operand('map', 2)} }}`,
      () => `{{ ${expressions.operand('text', 2)} | nindent ${depth} }}`,
      () => `{{ fromJson ${expressions.operand('text', 1)} | toYaml | indent ${depth} }}`,
    ])();
  }

  /** Returns a loop over all annotations or labels. `line` contains `KEY` and `VALUE`. */
  walk(line: string): string {
    this.hot += 1;
    const random = this.#random;
    const map = random.pick(['$.ObjectMeta.Annotations', '$.ObjectMeta.Labels']);
    const key = random.pick([
      '{{ $k }}',
      '{{ $k | quote }}',
      '{{ $k | upper | replace "/" "_" | quote }}',
      'X_{{ len $k }}',
    ]);
    const value = random.pick(['{{ $v }}', '{{ $v | quote }}', '"{{ $v }}"', '{{ $v | toJson }}', 'x']);
    const guard = random.pick([
      '',
      '',
      `{{- if eq $k "${random.pick([...annotationNames, ...labelNames])}" }}{{ continue }}{{ end }}`,
    ]);
    return `{{- range $k, $v := ${map} }}${guard}\n${line.replace('KEY', key).replace('VALUE', value)}\n{{- end }}\n`;
  }

  chance(probability: number): boolean {
    return this.#random.chance(probability);
  }

  pick<Item>(items: readonly Item[]): Item {
    return this.#random.pick(items);
  }

  #text(): string {
    return this.#expressions.operand('text', this.#random.below(3));
  }

  #shown(): string {
    return this.#expressions.operand(this.#random.pick(shownKinds), this.#random.below(4));
  }

  #operand(literal: string): string {
    return /^(?:[0-9]+|true|false|".*")$/.test(literal) ? literal : `"${literal}"`;
  }

  #other(literal: string): string {
    if (literal === 'true') return 'false';
    if (literal === 'false') return 'true';
    if (/^[0-9]+$/.test(literal)) return `${literal}1`;
    return literal.startsWith('"') ? `"other ${literal.slice(1)}` : `other-${literal}`;
  }
}
