/** Files of Kubernetes objects in all styles of YAML and JSON, from a number: equal in each run. */
export function randomFile(seed: number): string {
  return new Writer(seed).file();
}

type Value = string | number | boolean | null | Value[] | { [name: string]: Value };

/** Texts that parsers and printers confuse with others. */
const oddTexts =
  '. .5 1:1.5 10:30 0o644 0644 1e3 1_000 yes no on ~ null true .inf - -- -x =x <<x @x `x %x !x &x *x ?x :x #x a: a:b a#b|a #b|a: b|x y|{}|[]|{{ x }}|it\'s|say "x"|\\n|\\x|\u00e9|\u2028|\u{1f600}|2001-01-01|0x1F|+1|  x|x  |\tx|a\nb|a\nb\n|a\n\n b\n|\n|# x\n- y\n|a  \nb'
    .split('|')
    .flatMap((part) => (part.startsWith('. .5') ? part.split(' ') : [part]));

const numbers = ['1', '0', '-7', '0o644', '0644', '0x1F', '1e3', '1.50', '7284561234567890123', '.5', '1_000'];
const words = ['true', 'false', 'yes', 'No', 'on', '~', 'null', ''];

class Writer {
  #state: number;
  readonly #isJson: boolean;
  readonly #listIndent: number;
  readonly #step: number;
  readonly #comments: number;
  #anchors: string[] = [];
  #names = 0;

  constructor(seed: number) {
    this.#state = seed;
    this.#isJson = this.#chance(0.15);
    this.#listIndent = this.#chance(0.5) ? 2 : 0;
    this.#step = this.#pick([2, 2, 2, 4, 3]);
    this.#comments = this.#chance(0.5) ? 0.1 : 0;
  }

  file(): string {
    const count = 1 + this.#below(3);
    if (this.#isJson) return this.#json(count);
    let text = this.#chance(0.2) ? '# a licence\n---\n' : this.#chance(0.2) ? '--- # first\n' : '';
    for (let index = 0; index < count; index += 1) {
      if (index > 0) text += this.#pick(['---\n', '---\n', '--- # next\n', '---  \n', '...\n---\n', '---\n# only a comment\n---\n']);
      text += this.#document();
    }
    if (this.#chance(0.1)) text += this.#pick(['---\n', '...\n', '# end\n', '\n\n', '---\nkind: # nothing\n']);
    if (this.#chance(0.15)) text = text.replace(/\n$/, '');
    if (this.#chance(0.1)) text = text.replaceAll('\n', '\r\n');
    return this.#chance(0.05) ? `\ufeff${text}` : text;
  }

  #json(count: number): string {
    const unit = this.#pick(['', '', '  ', '\t', '    ']);
    const texts = Array.from({ length: count }, () => JSON.stringify(this.#object(), undefined, unit));
    return texts.join(this.#pick(['\n', '', '\n\n'])) + this.#pick(['', '\n']);
  }

  #document(): string {
    this.#anchors = [];
    return this.#chance(0.1) ? `${this.#flow(this.#object(), 0)}\n` : this.#map(this.#object(), 0).replace(/^\n/, '');
  }

  #object(isItem = false): { [name: string]: Value } {
    if (!isItem && this.#chance(0.15))
      return { apiVersion: 'v1', kind: 'List', items: Array.from({ length: this.#below(4) }, () => this.#object(true)) };
    const metadata = { name: this.#name(), ...(this.#chance(0.3) && { annotations: this.#strings() }) };
    if (this.#chance(0.3)) return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: this.#strings() };
    if (this.#chance(0.2)) return { apiVersion: 'v1', kind: 'Pod', metadata, spec: this.#podSpec() };
    const template = {
      ...(this.#chance(0.8) && { metadata: { labels: { app: 'web' }, ...(this.#chance(0.3) && { annotations: this.#strings() }) } }),
      spec: this.#podSpec(),
    };
    if (this.#chance(0.2))
      return { apiVersion: 'batch/v1', kind: 'CronJob', metadata, spec: { jobTemplate: { spec: { template } } } };
    const spec = { replicas: this.#below(5), selector: { matchLabels: { app: 'web' } }, template };
    return { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec };
  }

  #podSpec(): { [name: string]: Value } {
    const containers = Array.from({ length: 1 + this.#below(3) }, () => ({
      name: this.#name(),
      image: 'example.com/web:1',
      ...(this.#chance(0.5) && { args: Array.from({ length: this.#below(4) }, () => this.#text()) }),
      ...(this.#chance(0.5) && { env: [{ name: 'A', value: this.#text() }, { name: 'B', value: 'b' }] }),
      ...(this.#chance(0.3) && { securityContext: { runAsUser: this.#below(1e6) } }),
    }));
    const volumes = [{ name: 'v', configMap: { name: 'c', defaultMode: 420 } }, { name: 'w', emptyDir: {} }];
    return { ...(this.#chance(0.3) && { volumes }), containers, ...(this.#chance(0.3) && { hostname: 'a' }) };
  }

  #strings(): { [name: string]: Value } {
    const names = ['a', 'b.example.com/c', 'd'].slice(0, this.#below(4));
    return Object.fromEntries(names.map((name) => [name, this.#text()]));
  }

  #name(): string {
    this.#names += 1;
    return `n${this.#names}`;
  }

  #text(): string {
    return this.#chance(0.6) ? this.#pick(oddTexts) : this.#pick(['a', 'run --fast', 'http://x:80/y', 'x,y']);
  }

  /** Writes a map as lines at a column; the text begins with a line break. */
  #map(map: { [name: string]: Value }, column: number): string {
    const entries = Object.entries(map);
    if (entries.length === 0) return ' {}\n';
    const lines = entries.map(([name, value]) => `${this.#remark(column)}${' '.repeat(column)}${this.#key(name)}:${this.#member(value, column)}`);
    if ('containers' in map && this.#chance(0.1)) lines.push(`${' '.repeat(column)}x-unknown: ${this.#pick([...numbers, ...words])}\n`);
    if (this.#chance(0.02) && entries[0] !== undefined) {
      const [name, value] = entries[0];
      lines.push(`${' '.repeat(column)}${name}:${this.#member(value, column)}`);
    }
    return `\n${lines.join('')}`;
  }

  #member(value: Value, column: number): string {
    if (typeof value !== 'object' || value === null) return this.#scalarLine(value, column + 1);
    if (this.#chance(0.15)) return ` ${this.#flow(value, column + 1)}${this.#lineEnd()}`;
    const anchor = this.#chance(0.04) ? ` &${this.#anchor()}` : '';
    if (Array.isArray(value)) return value.length === 0 ? ' []\n' : `${anchor}${this.#tail()}${this.#list(value, column + this.#listIndent)}`;
    const written = this.#map(value, column + this.#step);
    return written.startsWith('\n') ? `${anchor}${this.#tail()}${written.slice(1)}` : written;
  }

  #list(list: readonly Value[], column: number): string {
    return list
      .map((item) => {
        const start = `${this.#remark(column)}${' '.repeat(column)}-`;
        if (typeof item !== 'object' || item === null) return start + this.#scalarLine(item, column + 1);
        if (this.#chance(0.2)) return `${start} ${this.#flow(item, column + 1)}${this.#lineEnd()}`;
        if (Array.isArray(item)) return `${start} ${this.#flow(item, column + 1)}\n`;
        const gap = this.#pick([' ', ' ', '   ']);
        const map = this.#map(item, column + 1 + gap.length).replace(/^\n/, '');
        const isPlain = /^ *[^ #]/.test(map);
        return isPlain && map.startsWith(' '.repeat(column + 2)) ? start + gap + map.trimStart() : `${start}\n${map}`;
      })
      .join('');
  }

  #scalarLine(value: string | number | boolean | null, indent: number): string {
    const isLines = typeof value === 'string' && /^[^\s#-][^]*\n/.test(value) && !/[ \t]\n|[ \t]$|\u2028/.test(value);
    if (isLines && this.#chance(0.7)) {
      const [chomp, content] = value.endsWith('\n\n') ? ['+', value.slice(0, -1)] : value.endsWith('\n') ? ['', value.slice(0, -1)] : ['-', value];
      const pad = ' '.repeat(indent + 1);
      return ` |${chomp}\n${content.split('\n').map((line) => (line === '' ? '' : pad + line)).join('\n')}\n`;
    }
    return ` ${this.#scalar(value, false)}${this.#lineEnd()}`;
  }

  #scalar(value: string | number | boolean | null, isFlow: boolean): string {
    if (typeof value !== 'string') return String(value);
    const isPlain = /^[A-Za-z][\w ./:-]*$/.test(value) && !/: |:$|[ ]$/.test(value) && !/^(?:[yn]|yes|no|on|off|true|false|null)$/i.test(value);
    if (isPlain && !(isFlow && value.includes(':')) && this.#chance(0.6)) return value;
    // Plain texts that only some parsers take for strings.
    if (['.', '1:1.5', '10:30', '2001-01-01'].includes(value) && !isFlow && this.#chance(0.7)) return value;
    if (/^[\x20-\x7e\u00e9]+$/.test(value) && this.#chance(0.5)) return `'${value.replaceAll("'", "''")}'`;
    return JSON.stringify(value).replaceAll('\u2028', '\\u2028');
  }

  #flow(value: Value, column: number): string {
    if (typeof value !== 'object' || value === null) return this.#scalar(value, true);
    const pad = this.#pick(['', '', ' ']);
    const parts = Array.isArray(value)
      ? value.map((item) => this.#flow(item, column))
      : Object.entries(value).map(([name, member]) => `${this.#key(name)}: ${this.#flow(member, column)}`);
    const [open, close] = Array.isArray(value) ? '[]' : '{}';
    if (parts.length === 0) return `${open ?? ''}${close ?? ''}`;
    if (this.#chance(0.2)) {
      const line = `\n${' '.repeat(column + 2)}`;
      return `${open ?? ''}${line}${parts.join(`,${line}`)}${this.#chance(0.3) ? ',' : ''}\n${' '.repeat(column)}${close ?? ''}`;
    }
    return `${open ?? ''}${pad}${parts.join(this.#pick([', ', ', ', ',  ']))}${pad}${close ?? ''}`;
  }

  #key(name: string): string {
    return this.#chance(0.05) ? `"${name}"` : this.#chance(0.05) ? `'${name}'` : name;
  }

  #anchor(): string {
    const name = `a${this.#anchors.length}`;
    this.#anchors.push(name);
    return name;
  }

  #tail(): string {
    return this.#chance(this.#comments) ? ' # why\n' : '\n';
  }

  #lineEnd(): string {
    return this.#chance(this.#comments) ? '  # as agreed\n' : this.#chance(0.02) ? '  \n' : '\n';
  }

  #remark(column: number): string {
    if (this.#chance(0.02)) return '\n';
    return this.#chance(this.#comments) ? `${' '.repeat(this.#pick([0, column, column]))}# a: remark\n` : '';
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[this.#below(items.length)] as Item;
  }

  /** Mulberry32. */
  #random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}
