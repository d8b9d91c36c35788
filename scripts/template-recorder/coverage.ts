import { parseTemplate } from '../../src/template/parse/parser.ts';
import type { Node } from '../../src/template/parse/nodes.ts';
import { SourceText } from '../../src/template/parse/source-text.ts';
import { atOnce } from '../../src/steps/steps.ts';
import { argumentKinds } from './expressions.ts';
import { isExcluded, signatures } from './functions.ts';
import type { TemplateCase } from './generator.ts';

/** All types of nodes, and variants that are separate nodes in the grammar. */
const nodeTypes = [
  ...[
    'text',
    'action',
    'if',
    'with',
    'range',
    'break',
    'continue',
    'template',
    'pipe',
    'command',
    'chain',
    'field',
    'variable',
    'identifier',
  ],
  ...['dot', 'nil', 'number', 'string', 'boolean', 'declaration', 'assignment', 'else', 'syntax error'],
];

/** The number of combinations of functions and kinds of arguments, except excluded combinations. */
const combinations = Object.keys(signatures).flatMap((name) =>
  argumentKinds.filter((kind) => [0, 1, 2].some((position) => !isExcluded(name, position, kind))),
).length;

/** The coverage of a run of the differential test. */
export class Coverage {
  readonly #nodes = new Map<string, number>();
  readonly #calls = new Set<string>();
  readonly #distinct = new Set<string>();
  #count = 0;
  #failed = 0;

  add(one: TemplateCase, fails: boolean): void {
    this.#count += 1;
    if (fails) this.#failed += 1;
    this.#distinct.add(`${one.template}\n${one.document}\n${one.missingKey ?? ''}`);
    if (one.covers !== undefined) this.#calls.add(one.covers.replace(/\/[0-9]+\//, '/'));
    try {
      const options = {
        delimiters: one.delimiters ?? (['{{', '}}'] as const),
        isFunction: () => true,
        functionNames: () => [],
        unavailable: {},
      };
      const parsing = parseTemplate(new SourceText('t', one.template), { ...options, isFunction: isOrdinary });
      for (const list of atOnce(parsing).values()) this.#visit(list);
    } catch {
      this.#see('syntax error');
    }
  }

  #see(type: string): void {
    this.#nodes.set(type, (this.#nodes.get(type) ?? 0) + 1);
  }

  #visit(node: Node): void {
    this.#see(node.type);
    switch (node.type) {
      case 'list':
        for (const statement of node.nodes) this.#visit(statement);
        break;
      case 'if':
      case 'with':
      case 'range':
        this.#visit(node.pipe);
        this.#visit(node.list);
        if (node.elseList !== undefined) {
          this.#see('else');
          this.#visit(node.elseList);
        }
        break;
      case 'action':
        this.#visit(node.pipe);
        break;
      case 'template':
        if (node.pipe !== undefined) this.#visit(node.pipe);
        break;
      case 'pipe':
        if (node.declarations.length > 0) this.#see(node.isAssignment ? 'assignment' : 'declaration');
        for (const command of node.commands) this.#visit(command);
        break;
      case 'command':
        for (const operand of node.operands) this.#visit(operand);
        break;
      case 'chain':
        this.#visit(node.node);
    }
  }

  /** Whether coverage, failures and variety suffice. A small `count` needs only the nodes. */
  isComplete(count: number): boolean {
    const failing = this.#failed / this.#count;
    const nodes = nodeTypes.every((type) => this.#nodes.has(type));
    const calls = count < 50_000 || this.#calls.size === combinations;
    return nodes && calls && failing >= 0.2 && failing <= 0.6 && this.#distinct.size >= this.#count * 0.95;
  }

  summary(): string {
    const nodes = nodeTypes.map((type) => `${type} ${this.#nodes.get(type) ?? 0}`).join(', ');
    const percent = (part: number): string => `${((100 * part) / this.#count).toFixed(1)} %`;
    return [
      `${this.#count} cases, ${percent(this.#failed)} fail, ${percent(this.#distinct.size)} distinct`,
      `nodes: ${nodes}`,
      `functions × kinds of argument: ${this.#calls.size} of ${combinations}`,
    ].join('\n');
  }
}

function isOrdinary(name: string): boolean {
  return name !== 'break' && name !== 'continue';
}
