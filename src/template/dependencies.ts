import type { Functions } from './compile-pipeline.ts';
import type { CommandNode, ListNode, OperandNode, PipeNode, StatementNode, TemplateNode } from './nodes.ts';
import { dataType, entryOf, mapAt, scalarAt, stableField } from './readings.ts';
import type { Reading } from './readings.ts';
import type { Steps } from './steps.ts';
import { surveyTrees } from './survey.ts';

/** What an outcome depends on, as places in {@link Dependencies.readings}; `undefined` when that cannot be told. */
export type DependencySet = ReadonlySet<number> | undefined;

const nothing: ReadonlySet<number> = new Set<number>();
/** What depends on more than this is not told: it would cost more than it saves. */
const mostDependencies = 512;
/** How often a place is noted for a statement before no more is told of any: what is noted is kept. */
const mostNotes = 200_000;
/** Of more variables that are visible at one place nothing is told: branches have their own copies. */
const mostVariables = 32;
/** Of what is nested deeper, in branches and in templates that are called, nothing is told: the stack has an end. */
const maximumDepth = 450;
/** Statements that are analysed in one step, see {@link Steps}. */
const statementsPerStep = 64;

/** What the dot, `$` and the variables are at a place of a template; `data` stands for the data itself. */
interface Scope {
  readonly dot: DependencySet | 'data';
  readonly root: DependencySet | 'data';
  readonly variables: Map<string, DependencySet>;
}

/**
 * Tells which parts of the data the statements of a template depend on. What is read of the data by name, or by `index` and its like with a
 * constant key, is known, and so is what functions make of that, which are pure. Nothing is known where a function may change the data.
 */
export class Dependencies {
  readonly readings: Reading[] = [dataType];
  readonly #trees: ReadonlyMap<string, ListNode>;
  readonly #functions: Functions;
  readonly #stableFields: ReadonlySet<string>;
  readonly #places = new Map<string, number>();
  readonly #statements = new Map<StatementNode, DependencySet>();
  /** Of named templates, when called with the data or with something else; `undefined` while that is being found out. */
  readonly #bodies = new Map<string, DependencySet>();
  #assigned: ReadonlySet<string> = new Set();
  #seen = 0;
  #depth = 0;
  readonly #notes: Notes = { left: mostNotes };

  /** @param stableFields See TemplateOptions. */
  constructor(trees: ReadonlyMap<string, ListNode>, functions: Functions, stableFields: readonly string[]) {
    this.#trees = trees;
    this.#functions = functions;
    this.#stableFields = new Set(stableFields);
  }

  /** Finds out, for the template of this name, which is executed over the data itself; of others, only what they give to this one. */
  *analyse(name: string): Steps<void> {
    const { assigned, called, changesData } = yield* surveyTrees(this.#trees.values(), this.#functions);
    this.#assigned = assigned;
    const list = this.#trees.get(name);
    // One that is called too, by itself or by another, is executed over something else than the data as well.
    if (list !== undefined && !changesData && !called.has(name))
      yield* this.#list(list, { dot: 'data', root: 'data', variables: new Map() }, true);
  }

  /** What the output of a statement depends on; `undefined` also for one that does more than write. */
  of(statement: StatementNode): DependencySet {
    return this.#statements.get(statement);
  }

  /** @param keep Whether the list is executed at most once in an execution, so that what is known of its statements can be used. */
  *#list(list: ListNode, scope: Scope, keep: boolean): Steps<DependencySet> {
    if (this.#depth >= maximumDepth) return undefined;
    this.#depth += 1;
    const inner: Scope = { ...scope, variables: new Map(scope.variables) };
    const all = new Union(this.#notes);
    for (const statement of list.nodes) {
      this.#seen += 1;
      if (this.#seen % statementsPerStep === 0) yield;
      const dependencies = yield* this.#statement(statement, inner, keep);
      all.add(dependencies);
      const declares = statement.type === 'action' && statement.pipe.declarations.length > 0;
      if (keep && !declares) this.#statements.set(statement, dependencies);
    }
    this.#depth -= 1;
    return all.result;
  }

  *#statement(node: StatementNode, scope: Scope, keep: boolean): Steps<DependencySet> {
    switch (node.type) {
      case 'action':
        return this.#pipe(node.pipe, scope);
      case 'template':
        return yield* this.#call(node, scope);
      case 'if':
      case 'with':
      case 'range': {
        const inner: Scope = { ...scope, variables: new Map(scope.variables) };
        const value = this.#pipe(node.pipe, inner);
        const once = keep && node.type !== 'range';
        const all = new Union(this.#notes);
        all.add(value);
        all.add(yield* this.#list(node.list, node.type === 'if' ? inner : { ...inner, dot: value }, once));
        if (node.elseList !== undefined) all.add(yield* this.#list(node.elseList, inner, once));
        return all.result;
      }
      default:
        return nothing;
    }
  }

  *#call(node: TemplateNode, scope: Scope): Steps<DependencySet> {
    const body = this.#trees.get(node.name);
    if (body === undefined) return undefined;
    const dot = node.pipe === undefined ? nothing : this.#argument(node.pipe, scope);
    const given = dot === 'data' ? dot : nothing;
    const key = `${given === 'data' ? 'data' : 'other'} ${node.name}`;
    if (!this.#bodies.has(key)) {
      this.#bodies.set(key, undefined);
      this.#bodies.set(key, yield* this.#list(body, { dot: given, root: given, variables: new Map() }, false));
    }
    const all = new Union(this.#notes);
    if (dot !== 'data') all.add(dot);
    all.add(this.#bodies.get(key));
    return all.result;
  }

  /** What a template is called with: the data itself, most often. */
  #argument(node: PipeNode, scope: Scope): DependencySet | 'data' {
    const [command] = node.commands;
    const alone = node.commands.length === 1 && command?.operands.length === 1 && node.declarations.length === 0;
    return alone && command.operands[0]?.type === 'dot' ? scope.dot : this.#pipe(node, scope);
  }

  #pipe(node: PipeNode, scope: Scope): DependencySet {
    const all = new Union(this.#notes);
    for (const [index, command] of node.commands.entries()) this.#command(command, scope, index === 0, all);
    for (const { names } of node.declarations) note(scope.variables, String(names[0]), all.result);
    // Whoever repeats the output of a statement that sets a variable has not set it.
    return node.isAssignment ? undefined : all.result;
  }

  #command({ operands }: CommandNode, scope: Scope, isFirst: boolean, all: Union): void {
    const [first, map, key, ...others] = operands;
    const entry =
      isFirst && first?.type === 'identifier' ? this.#entry(first.name, map, key, others.length, scope) : undefined;
    if (entry !== undefined) all.add(entry);
    for (const operand of entry === undefined ? operands : others) all.add(this.#operand(operand, scope));
  }

  /** What a function depends on that reads one entry of a map of the data. */
  #entry(
    name: string,
    map: OperandNode | undefined,
    key: OperandNode | undefined,
    others: number,
    scope: Scope,
  ): DependencySet {
    const looksUp = this.#functions.get(name)?.traits.looksUp;
    if (looksUp === undefined || map === undefined || key?.type !== 'string' || others + 2 !== looksUp.operands)
      return undefined;
    const path = pathOf(map, scope);
    if (path?.[0] === undefined || this.#stableFields.has(path[0])) return undefined;
    const place = this.#place([path, looksUp.below], () => mapAt(path, looksUp.below));
    return new Set([this.#place([place, key.text], () => entryOf(place, key.text))]);
  }

  #operand(node: OperandNode, scope: Scope): DependencySet {
    const path = pathOf(node, scope);
    if (path !== undefined) return this.#path(path);
    switch (node.type) {
      case 'dot':
      case 'field':
        return scope.dot === 'data' ? undefined : scope.dot;
      case 'variable': {
        const name = String(node.names[0]);
        if (name === '$') return scope.root === 'data' ? undefined : scope.root;
        return this.#assigned.has(name) ? undefined : scope.variables.get(name);
      }
      case 'chain':
        return this.#operand(node.node, scope);
      case 'pipe':
        return this.#pipe(node, scope);
      default:
        return nothing;
    }
  }

  #path(path: readonly string[]): DependencySet {
    const [first = ''] = path;
    const place = this.#stableFields.has(first)
      ? this.#place(first, () => stableField(first))
      : this.#place(path, () => scalarAt(path));
    return new Set([place]);
  }

  #place(key: unknown, make: () => Reading): number {
    const text = JSON.stringify(key);
    const known = this.#places.get(text);
    if (known !== undefined) return known;
    const place = this.readings.push(make()) - 1;
    this.#places.set(text, place);
    return place;
  }
}

/** Remembers what a variable depends on. One that is not among them depends on what cannot be told. */
function note(variables: Map<string, DependencySet>, name: string, dependencies: DependencySet): void {
  if (variables.size < mostVariables) variables.set(name, dependencies);
  else variables.delete(name);
}

/** The fields that lead from the data to an operand, if it is read that way. */
function pathOf(node: OperandNode, scope: Scope): readonly string[] | undefined {
  if (node.type === 'field' && scope.dot === 'data') return node.names;
  if (node.type === 'variable' && node.names[0] === '$' && node.names.length > 1 && scope.root === 'data')
    return node.names.slice(1);
  return undefined;
}

/** How much more is noted for a whole template. */
interface Notes {
  left: number;
}

/** Several dependency sets as one: not known when one of them is not. */
class Union {
  result: Set<number> | undefined = new Set();
  readonly #notes: Notes;

  constructor(notes: Notes) {
    this.#notes = notes;
  }

  add(dependencies: DependencySet): void {
    if (dependencies !== undefined) this.#notes.left -= dependencies.size;
    if (dependencies === undefined || this.#notes.left < 0) this.result = undefined;
    else for (const place of dependencies) this.result?.add(place);
    if (this.result !== undefined && this.result.size > mostDependencies) this.result = undefined;
  }
}
