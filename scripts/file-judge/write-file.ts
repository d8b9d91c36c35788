import { Random } from '../template-recorder/random.ts';
import { mutated } from './mutate.ts';
import { type Members, Objects, Plain, type Value } from './objects.ts';

export interface RandomFile {
  readonly text: string;
  /** Parts in their order, between which there may be others, that an injection must not change. */
  readonly fixed: readonly string[];
  readonly isMutated: boolean;
}

/** Returns a file of objects in random styles of YAML and JSON; equal for equal seeds. */
export function randomFile(seed: number): RandomFile {
  const random = new Random(seed);
  const parts = new FileWriter(random).file();
  const text = parts.map((part) => part.text).join('');
  if (random.chance(0.15)) return { text: mutated(text, random), fixed: [], isMutated: true };
  return { text, fixed: parts.filter(({ isFixed }) => isFixed).map((part) => part.text), isMutated: false };
}

interface Part {
  readonly text: string;
  readonly isFixed: boolean;
}

const words = /^(?:[yn~]|yes|no|on|off|true|false|null|[-+]?\.?(?:inf|nan))$/i;
const printable = /^[\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]*$/u;
const json = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null)$/;
const escapes: Readonly<Record<string, string>> = {
  ...{ '\0': '0', '\u0007': 'a', '\b': 'b', '\t': 't', '\n': 'n', '\v': 'v', '\f': 'f', '\r': 'r', '\u001b': 'e' },
  ...{ '"': '"', '\\': '\\', ' ': ' ', '\u0085': 'N', '\u00a0': '_', '\u2028': 'L', '\u2029': 'P' },
};

/** Writes a file. Each file prefers other styles. */
class FileWriter {
  readonly #random: Random;
  readonly #objects: Objects;
  readonly #step: number;
  readonly #listIndent: number;
  readonly #remarks: number;
  readonly #flowShare: number;
  /** How often the file has what few authors write. */
  readonly #oddity: number;
  readonly #anchorShare: number;
  /** The anchors of the document by what they mark, so that an alias has a fitting value. */
  readonly #anchors = new Map<string, { readonly name: string; readonly isMap: boolean }>();
  #count = 0;

  constructor(random: Random) {
    this.#random = random;
    this.#objects = new Objects(random);
    this.#step = random.pick([2, 2, 2, 4, 3, 1, 8]);
    this.#listIndent = random.pick([0, 0, 2, 4]);
    this.#remarks = random.pick([0, 0.05, 0.2]);
    this.#flowShare = random.pick([0, 0.1, 0.1, 0.5]);
    this.#oddity = random.pick([0, 0, 0.02, 0.1]);
    this.#anchorShare = random.chance(0.015) ? 0.1 : 0;
  }

  file(): Part[] {
    const random = this.#random;
    const isJson = random.chance(0.12);
    const parts = isJson ? this.#jsonFile() : this.#yamlFile();
    const last = parts.at(-1);
    if (last !== undefined && random.chance(0.15)) parts.push({ ...parts.pop()!, text: last.text.replace(/\n$/, '') });
    const style = random.below(30);
    const ends = (text: string): string =>
      style < 3
        ? text.replaceAll('\n', '\r\n')
        : style === 3
          ? text.replace(/\n/g, () => random.pick(['\n', '\r\n']))
          : text;
    const written = parts.map((part) => ({ ...part, text: ends(part.text) }));
    return !isJson && random.chance(0.03) ? [{ text: '\ufeff', isFixed: true }, ...written] : written;
  }

  #yamlFile(): Part[] {
    const random = this.#random;
    const parts: Part[] = [];
    const add = (text: string): void => void parts.push({ text, isFixed: true });
    const opening = [
      '# a licence\n---\n',
      '--- # first\n',
      '---\n',
      '\n\n---\n',
      '# a licence\n',
      '---\n---\n',
      '# c\n\n',
      '---\t\n',
    ];
    if (random.chance(0.4)) add(random.pick(opening));
    else if (random.chance(0.02)) add('%YAML 1.1\n---\n');
    const count = 1 + random.below(3);
    for (let index = 0; index < count; index += 1) {
      const between = [
        '---\n',
        '---\n',
        '---\n',
        '--- # next\n',
        '---  \n',
        '...\n---\n',
        '---\n# only a comment\n---\n',
        '---\n---\n',
      ];
      const odd = [
        '--- !!map\n',
        '---\n\ufeff',
        '... # end\n---\n',
        '...\nrest: [\n---\n',
        '---\n%TAG ! x\n---\n',
        '----\n',
        ' ---\n',
        '---\n...\n---\n',
      ];
      if (index > 0) add(random.pick(this.#isOdd() ? odd : between));
      this.#anchors.clear();
      const object = this.#objects.object();
      const isFixed = ['ConfigMap', 'Secret', 'Thing'].some((kind) => kind === object.kind);
      parts.push({ text: this.#document(object), isFixed });
    }
    if (random.chance(0.15))
      add(
        random.pick([
          '---\n',
          '...\n',
          '# end\n',
          '\n\n',
          '---\n# nothing\n',
          '---',
          '...\n# after\n',
          '---\n~\n',
          ' \n',
          this.#isOdd() ? '\t\n' : '\n',
        ]),
      );
    return parts;
  }

  #jsonFile(): Part[] {
    const random = this.#random;
    const unit = random.pick(['', '', '  ', '\t', '    ']);
    const parts: Part[] = [{ text: random.pick(['', '', '', '\n', ' ', '\t\n']), isFixed: true }];
    for (let left = 1 + random.below(3); left > 0; left -= 1) {
      const object = this.#objects.object();
      parts.push({
        text: this.#json(object, unit, ''),
        isFixed: object.kind === 'ConfigMap' || object.kind === 'Thing',
      });
      parts.push({
        text: left > 1 ? random.pick(['\n', '\n', '', '\n\n', ' ']) : random.pick(['', '\n', '\n', ' \n']),
        isFixed: true,
      });
    }
    if (random.chance(0.05))
      parts.push({
        text: random.pick(['---\na: 1\nkind: b\napiVersion: v1\n', '# c\n', '---\n', ']', '[]']),
        isFixed: true,
      });
    return parts;
  }

  /** @param isYaml whether a reader of YAML reads it, which does not know all escapes */
  #json(value: Value, unit: string, indent: string, isYaml = false): string {
    const random = this.#random;
    if (value instanceof Plain) return json.test(value.text) ? value.text : this.#jsonText(value.text, isYaml);
    if (typeof value === 'string') return this.#jsonText(value, isYaml);
    const inner = indent + unit;
    const gap = unit === '' ? random.pick(['', '', ' ']) : ' ';
    const isList = Array.isArray(value);
    const items = isList
      ? (value as Value[]).map((item) => this.#json(item, unit, inner, isYaml))
      : Object.entries(value).map(
          ([name, item]) => `${this.#jsonText(name, isYaml)}:${gap}${this.#json(item, unit, inner, isYaml)}`,
        );
    if (items.length > 1 && !isList && random.chance(this.#oddity / 4)) items.unshift(random.pick(items));
    const [open, close] = isList ? '[]' : '{}';
    if (items.length === 0) return `${open ?? ''}${random.chance(0.1) ? ' ' : ''}${close ?? ''}`;
    if (unit === '') return `${open ?? ''}${items.join(random.pick([',', ', ']))}${close ?? ''}`;
    return `${open ?? ''}\n${inner}${items.join(`,\n${inner}`)}\n${indent}${close ?? ''}`;
  }

  #jsonText(text: string, isYaml: boolean): string {
    const isOdd = !isYaml || this.#isOdd();
    const unicode = (at: string): string => `\\u${at.charCodeAt(0).toString(16).padStart(4, '0')}`;
    const written = JSON.stringify(text);
    const safe = isOdd ? written : written.replaceAll(/[\x7f-\x9f\u2028\u2029\ufeff]/g, unicode);
    if (!this.#random.chance(0.1)) return safe;
    const escaped = safe.replaceAll(isOdd ? /(?<!\\)[a\u0080-\uffff]/g : /(?<!\\)[a\u0080-\ud7ff]/g, unicode);
    return isOdd ? escaped.replaceAll('/', '\\/') : escaped;
  }

  #document(object: Members): string {
    const random = this.#random;
    if (random.chance(this.#flowShare / 3)) return `${this.#flow(object, 0)}${this.#lineEnd()}`;
    if (random.chance(0.03)) return `${this.#json(object, random.pick(['', '  ', '\t']), '', true)}\n`;
    return this.#map(object, this.#isOdd() ? 2 : 0);
  }

  /** Writes a map of at least one member as lines at a column. */
  #map(members: Members, column: number): string {
    const random = this.#random;
    const pad = ' '.repeat(column);
    const merged = [...this.#anchors.values()].filter(({ isMap }) => isMap).map(({ name }) => `*${name}`);
    const lines = Object.entries(members).map(
      ([name, value]) => this.#remark(column) + pad + this.#entry(name, value, column),
    );
    if (merged.length > 0 && random.chance(this.#anchorShare / 3)) {
      const source = random.chance(0.7)
        ? random.pick(merged)
        : random.pick([`[${merged.slice(0, 2).join(', ')}]`, '{x: 1}']);
      lines.splice(random.below(lines.length + 1), 0, `${pad}<<: ${source}\n`);
    }
    if (random.chance(this.#oddity / 4)) {
      const [name, value] = random.pick(Object.entries(members));
      lines.push(pad + this.#entry(name, value, column));
    }
    return lines.join('');
  }

  #entry(name: string, value: Value, column: number): string {
    const key = this.#key(name, false);
    if (this.#isOdd() && this.#random.chance(0.2)) {
      const inner = this.#member(name, value, column);
      return `? ${key}\n${' '.repeat(column)}:${inner}`;
    }
    return `${key}${this.#random.chance(this.#oddity / 4) ? ' ' : ''}:${this.#member(name, value, column)}`;
  }

  /** Writes what follows the colon of a member, with the line break. */
  #member(name: string, value: Value, column: number): string {
    const known = this.#anchors.get(name);
    if (known !== undefined && this.#random.chance(this.#anchorShare * 3)) return ` *${known.name}${this.#lineEnd()}`;
    return this.#marked(name, value, (properties) => this.#content(value, column, properties));
  }

  #content(value: Value, column: number, properties: string): string {
    const random = this.#random;
    if (value instanceof Plain || typeof value === 'string') return properties + this.#scalarLine(value, column);
    const isEmpty = Object.keys(value).length === 0;
    if (isEmpty || random.chance(this.#flowShare))
      return `${properties}${this.#space()}${this.#flow(value, column + 1)}${this.#lineEnd()}`;
    const inner = Array.isArray(value)
      ? this.#list(value as Value[], column + this.#listIndent)
      : this.#map(value as Members, column + this.#step);
    return `${properties}${this.#lineEnd()}${inner}`;
  }

  #list(items: readonly Value[], column: number): string {
    const random = this.#random;
    const written = items.map((item) => {
      const start = `${this.#remark(column)}${' '.repeat(column)}-`;
      if (item instanceof Plain || typeof item === 'string')
        return this.#marked('-', item, (properties) => start + properties + this.#scalarLine(item, column));
      const isEmpty = Object.keys(item).length === 0;
      if (isEmpty || random.chance(this.#flowShare))
        return `${start} ${this.#flow(item, column + 1)}${this.#lineEnd()}`;
      const gap = random.pick([1, 1, 1, 3]);
      const inner = column + 1 + gap;
      return this.#marked('-map', item, (properties) => {
        const text = Array.isArray(item) ? this.#list(item as Value[], inner) : this.#map(item as Members, inner);
        if (properties !== '' || random.chance(0.1) || !/^ *[^ #\n]/.test(text))
          return `${start}${properties}\n${text}`;
        return start + text.slice(inner - gap);
      });
    });
    return written.join('');
  }

  /** Writes a value with an anchor, a tag, or mostly neither. What follows may use the anchor. */
  #marked(name: string, value: Value, write: (properties: string) => string): string {
    const random = this.#random;
    const isMap = !(value instanceof Plain) && typeof value === 'object' && !Array.isArray(value);
    if (isMap && random.chance(this.#oddity / 10)) return write(random.pick([' !!map', ' !x', ' !!map &t']));
    if (typeof value === 'string' && random.chance(this.#oddity / 10)) return write(' !!str');
    if (!random.chance(this.#anchorShare)) return write('');
    this.#count += 1;
    const anchor = `a${this.#count}`;
    const written = write(` &${anchor}`);
    this.#anchors.set(name, { name: anchor, isMap });
    return written;
  }

  #scalarLine(value: Plain | string, column: number): string {
    if (value instanceof Plain) return `${this.#space()}${value.text}${this.#lineEnd()}`;
    const isLines = value.includes('\n') || this.#random.chance(0.08);
    if (isLines && value !== '' && printable.test(value) && this.#random.chance(0.7))
      return this.#blockScalar(value, column);
    const isBelow = this.#random.chance(0.02);
    const space = isBelow ? this.#lineEnd() + ' '.repeat(column + 1 + this.#random.below(3)) : this.#space();
    return `${space}${this.#scalar(value, column, false)}${this.#lineEnd()}`;
  }

  #blockScalar(text: string, column: number): string {
    const random = this.#random;
    const ends = /\n*$/.exec(text)?.[0].length ?? 0;
    const body = text.slice(0, text.length - ends);
    const canFold = body !== '' && !/^[ \t]|\n[ \t]|[ \t]\n|[ \t]$/.test(body);
    const isFolded = canFold && random.chance(0.4);
    const needsDigit = (/^\n*[ \t]/.test(body) && !this.#isOdd()) || body === '';
    const digit = needsDigit || random.chance(0.15) ? 1 + random.below(4) : 0;
    const pad = ' '.repeat(column + (digit || 1 + random.below(4)));
    const chomp = ends === 0 ? '-' : ends > 1 || body === '' ? '+' : random.pick(['', '', '+']);
    const shown = isFolded
      ? body.replace(/\n+|(?<=\S) (?=\S)/g, (at) => (at === ' ' ? random.pick([' ', ' ', '\n']) : `${at}\n`))
      : body;
    const lines =
      body === '' ? [] : shown.split('\n').map((line) => (line === '' ? (random.chance(0.05) ? pad : '') : pad + line));
    const more = chomp === '+' ? ends - (body === '' ? 0 : 1) : random.chance(0.1) ? 2 : 0;
    const header = random.pick([`${chomp}${digit || ''}`, `${digit || ''}${chomp}`]);
    return ` ${isFolded ? '>' : '|'}${header}${this.#lineEnd()}${[...lines, ...Array<string>(more).fill('')].map((line) => `${line}\n`).join('')}`;
  }

  /** Writes a text in one of the styles of a scalar. */
  #scalar(text: string, column: number, isFlow: boolean): string {
    const random = this.#random;
    const isPlain =
      /^[A-Za-z/$\u00e9\u65e5][\w ./$()+=@:?\u00e9-]*$/.test(text) && !/: |:$| $/.test(text) && !words.test(text);
    if (isPlain && !(isFlow && /[:?]/.test(text) && !this.#isOdd()) && random.chance(0.6))
      return random.chance(0.05) ? this.#folded(text, column) : text;
    if (printable.test(text) && !/\n|^$/.test(text) && random.chance(this.#oddity)) return text;
    if (printable.test(text) && !/[ \t]\n|\n[ \t]/.test(text) && random.chance(0.5)) {
      return `'${this.#folded(text.replaceAll("'", "''").replaceAll('\n', `\n\n${' '.repeat(column + 1)}`), column)}'`;
    }
    return `"${this.#folded(Array.from(text, (each) => this.#escaped(each)).join(''), column)}"`;
  }

  /** Breaks a line of quoted or plain text at some of its single spaces. */
  #folded(text: string, column: number): string {
    if (!this.#random.chance(0.15)) return text;
    const indents = [1, 1, 3, this.#isOdd() ? 0 : 2].map((more) => ' '.repeat(column + more));
    return text.replace(/(?<=[\w.]) (?=[\w.])/g, () =>
      this.#random.chance(0.5) ? `\n${this.#random.pick(indents)}` : ' ',
    );
  }

  #escaped(character: string): string {
    const random = this.#random;
    const code = character.codePointAt(0) ?? 0;
    const isNeeded = character === '"' || character === '\\' || character === '\n' || !printable.test(character);
    if (!isNeeded && !random.chance(0.03)) return character;
    const name = escapes[character];
    if (name !== undefined && random.chance(0.7)) return `\\${name}`;
    const styles: [letter: string, digits: number, limit: number][] = [
      ['x', 2, 0xff],
      ['u', 4, 0xffff],
      ['U', 8, 0x10ffff],
    ];
    const [letter, digits] = random.pick(styles.filter(([, , limit]) => code <= limit));
    return `\\${letter}${code.toString(16).padStart(digits, '0')}`;
  }

  #flow(value: Value, column: number): string {
    const random = this.#random;
    if (value instanceof Plain) return value.text === '' ? '~' : value.text;
    if (typeof value === 'string') return this.#scalar(value, column, true);
    const isList = Array.isArray(value);
    const parts = isList
      ? (value as Value[]).map((item) => (this.#isOdd() && random.chance(0.02) ? 'k: ' : '') + this.#flow(item, column))
      : Object.entries(value).map(([name, item]) => this.#flowMember(name, item, column));
    const [open, close] = isList ? '[]' : '{}';
    if (parts.length === 0) return `${open ?? ''}${random.pick(['', '', ' '])}${close ?? ''}`;
    const pad = random.pick(['', '', ' ']);
    const comma = random.chance(0.1) ? ',' : '';
    if (!random.chance(0.2))
      return `${open ?? ''}${pad}${parts.join(random.pick([', ', ', ', ',  ', ' , ']))}${comma}${pad}${close ?? ''}`;
    const indent = ' '.repeat(this.#isOdd() ? 0 : column + 1 + random.below(3));
    const breaks = parts.map((part) => `${part}${random.chance(this.#remarks) ? `, ${this.#comment()}` : ','}`);
    const last = comma === '' ? (breaks.pop() === undefined ? [] : [parts.at(-1) ?? '']) : [];
    return `${open ?? ''}\n${indent}${[...breaks, ...last].join(`\n${indent}`)}\n${' '.repeat(column)}${close ?? ''}`;
  }

  #flowMember(name: string, value: Value, column: number): string {
    const random = this.#random;
    const known = this.#anchors.get(name);
    if (known !== undefined && random.chance(this.#anchorShare * 3)) return `${this.#key(name, true)}: *${known.name}`;
    const key = this.#key(name, true);
    const gap = key.startsWith('"') && random.chance(0.2) ? '' : ' ';
    return this.#marked(name, value, (properties) => {
      const marks = properties === '' ? '' : `${properties.trimStart()} `;
      return `${key}:${gap}${marks}${this.#flow(value, column)}`;
    });
  }

  #key(name: string, isFlow: boolean): string {
    const random = this.#random;
    if (random.chance(0.05) || !/^[\w./-]+$/.test(name)) {
      if (/^[^\n\r\t]*$/.test(name) && random.chance(0.5)) return `'${name.replaceAll("'", "''")}'`;
      return isFlow ? JSON.stringify(name) : `"${Array.from(name, (each) => this.#escaped(each)).join('')}"`;
    }
    return name;
  }

  #space(): string {
    return this.#random.pick(this.#isOdd() ? ['\t', '  ', ' \t '] : [' ']);
  }

  #comment(): string {
    const random = this.#random;
    this.#count += 1;
    const odd = ['# a: &b *c', '#x', '# "', "# it's", '# {{ x }}', '# [', '#\t\u00e9', '# --- |'];
    if (this.#isOdd() && random.chance(0.02)) return random.pick(['# \u2028x', '# \u0085x: 1', '# \ufeff']);
    return this.#isOdd() ? random.pick(odd) : `# c${this.#count}`;
  }

  #lineEnd(): string {
    const random = this.#random;
    if (random.chance(this.#remarks)) return `${random.pick([' ', '  ', '\t'])}${this.#comment()}\n`;
    return random.chance(0.02) ? random.pick(['  \n', '\t\n', ' \n']) : '\n';
  }

  /** Writes a line of a comment, or an empty line, or mostly nothing. */
  #remark(column: number): string {
    const random = this.#random;
    if (random.chance(0.02)) return random.pick(['\n', '\n\n', '  \n']);
    return random.chance(this.#remarks)
      ? `${' '.repeat(random.pick([0, column, column, column + 2]))}${this.#comment()}\n`
      : '';
  }

  #isOdd(): boolean {
    return this.#random.chance(this.#oddity);
  }
}
