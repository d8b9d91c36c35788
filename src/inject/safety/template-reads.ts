import type {
  BranchNode,
  CommandNode,
  ListNode,
  OperandNode,
  PipeNode,
  StatementNode,
} from '../../template/parse/nodes.ts';
import type { Steps } from '../../steps/steps.ts';
import { memberOf, namesOf, noPaths, root, union, wholePaths, type DataPaths } from './data-paths.ts';
import { callReads, type TracedArgument } from './function-reads.ts';
import { jsonPath } from './json-path.ts';

/** The data flow of a template from static analysis, which includes the flow of every execution. */
export interface TemplateReads {
  /** The data printed in the output. */
  readonly printed: DataPaths;
  /** The data that control what is printed. */
  readonly steering: DataPaths;
  /** The data that functions parse as JSON or lists. */
  readonly parsed: DataPaths;
}

/**
 * Analyzes the data flow of a template and the templates that it calls.
 * @param definitions the parsed templates by name
 */
export function templateReads(definitions: ReadonlyMap<string, ListNode>, name: string): Steps<TemplateReads> {
  return new Analysis(definitions).read(name);
}

/** The number of statements per step (see {@link Steps}). */
const statementsPerStep = 64;

/** The limit on visited paths. A template that exceeds it is assumed to read everything. */
const maxVisits = 1_000_000;
/** The limit on paths per variable, dot or use. */
const maxPaths = 4096;

const everything: DataPaths = wholePaths(root);

class LimitExceeded extends Error {}

/** The template definition that contains a statement, and the paths of the dot. */
interface Scope {
  readonly definition: string;
  readonly dot: DataPaths;
}

/** Propagates paths. Sets of paths only grow, so passes repeat until nothing changes. */
class Analysis {
  readonly #definitions: ReadonlyMap<string, ListNode>;
  readonly #printed = new Set<string>();
  readonly #steering = new Set<string>();
  readonly #parsed = new Set<string>();
  /** The arguments in the calls of each definition. */
  readonly #dots = new Map<string, Set<string>>();
  /** The values of variables, by definition and variable name. */
  readonly #variables = new Map<string, Set<string>>();
  #gained = false;
  #statements = 0;
  #remainingVisits = maxVisits;

  constructor(definitions: ReadonlyMap<string, ListNode>) {
    this.#definitions = definitions;
  }

  *read(name: string): Steps<TemplateReads> {
    this.#dots.set(name, new Set(root));
    try {
      while (yield* this.#pass());
    } catch (error) {
      if (!(error instanceof LimitExceeded)) throw error;
      return { printed: everything, steering: everything, parsed: everything };
    }
    return { printed: this.#printed, steering: this.#steering, parsed: this.#parsed };
  }

  /** Visits every definition known to be called; returns whether a set grew. */
  *#pass(): Steps<boolean> {
    this.#gained = false;
    for (const [definition, dot] of [...this.#dots]) {
      const body = this.#definitions.get(definition);
      if (body !== undefined) yield* this.#list(body, { definition, dot });
    }
    return this.#gained;
  }

  *#list(list: ListNode, scope: Scope): Steps<void> {
    for (const statement of list.nodes) {
      this.#statements += 1;
      this.#count(1);
      if (this.#statements % statementsPerStep === 0) yield;
      yield* this.#statement(statement, scope);
    }
  }

  *#statement(node: StatementNode, scope: Scope): Steps<void> {
    switch (node.type) {
      case 'action': {
        const value = this.#pipe(node.pipe, scope);
        if (node.pipe.declarations.length === 0) this.#gain(this.#printed, wholePaths(value));
        return;
      }
      case 'template':
        this.#gainOf(this.#dots, node.name, node.pipe === undefined ? noPaths : this.#pipe(node.pipe, scope));
        return;
      case 'if':
      case 'with':
      case 'range':
        yield* this.#branch(node, scope);
        return;
      case 'text':
      case 'break':
      case 'continue':
    }
  }

  *#branch(node: BranchNode, scope: Scope): Steps<void> {
    const value = this.#pipe(node.pipe, scope, node.type === 'range');
    this.#gain(this.#steering, wholePaths(value));
    if (node.type === 'range') {
      const element = memberOf(value, '*');
      const [first, second] = node.pipe.declarations.map(({ names }) => names[0] ?? '');
      // A single variable is the element. Of two, the first is the key, which an author may choose.
      if (first !== undefined) this.#assign(scope, first, second === undefined ? element : keysOf(value));
      if (second !== undefined) this.#assign(scope, second, element);
      yield* this.#list(node.list, { ...scope, dot: element });
    } else {
      yield* this.#list(node.list, node.type === 'with' ? { ...scope, dot: value } : scope);
    }
    if (node.elseList !== undefined) yield* this.#list(node.elseList, scope);
  }

  /** Returns the value of a pipeline; for a range, the caller assigns the variables. */
  #pipe(pipe: PipeNode, scope: Scope, forRange = false): DataPaths {
    let value: DataPaths | undefined;
    for (const command of pipe.commands) value = this.#command(command, scope, value);
    const result = value ?? noPaths;
    if (!forRange) for (const { names } of pipe.declarations) this.#assign(scope, names[0] ?? '', result);
    return result;
  }

  #command({ operands }: CommandNode, scope: Scope, last: DataPaths | undefined): DataPaths {
    const [first, ...rest] = operands;
    const callArguments: TracedArgument[] = rest.map((operand) => this.#argument(operand, scope));
    for (const { paths } of callArguments) this.#count(1 + paths.size);
    if (last !== undefined) callArguments.push({ paths: last });
    if (first?.type === 'identifier') {
      const { result, steering, parsed, kept = noPaths } = callReads(first.name, callArguments);
      this.#gain(this.#steering, steering);
      this.#gain(this.#parsed, parsed);
      this.#gain(this.#printed, kept);
      return result;
    }
    const value = first === undefined ? noPaths : this.#argument(first, scope).paths;
    // The effect of a method on its arguments is unknown.
    return callArguments.length === 0 ? value : wholePaths(union(value, ...callArguments.map(({ paths }) => paths)));
  }

  #argument(node: OperandNode, scope: Scope): TracedArgument {
    switch (node.type) {
      case 'string':
        return { paths: noPaths, literal: node.text };
      case 'dot':
        return { paths: scope.dot };
      case 'field':
        return { paths: memberOf(scope.dot, ...node.names) };
      case 'variable': {
        const [name = '', ...members] = node.names;
        return { paths: memberOf(this.#variable(scope, name), ...members) };
      }
      case 'chain':
        return { paths: memberOf(this.#argument(node.node, scope).paths, ...node.names) };
      case 'pipe':
        return { paths: this.#pipe(node, scope) };
      case 'identifier':
        return {
          paths: this.#command({ type: 'command', position: node.position, operands: [node] }, scope, undefined),
        };
      case 'number':
      case 'boolean':
      case 'nil':
        return { paths: noPaths };
    }
  }

  #variable({ definition }: Scope, name: string): DataPaths {
    return (name === '$' ? this.#dots.get(definition) : this.#variables.get(`${definition}\0${name}`)) ?? noPaths;
  }

  #assign({ definition }: Scope, name: string, paths: DataPaths): void {
    this.#gainOf(this.#variables, `${definition}\0${name}`, paths);
  }

  #gainOf(sets: Map<string, Set<string>>, key: string, paths: DataPaths): void {
    let set = sets.get(key);
    if (set === undefined) {
      set = new Set();
      sets.set(key, set);
      this.#gained = true;
    }
    this.#gain(set, paths);
  }

  #count(paths: number): void {
    this.#remainingVisits -= paths;
    if (this.#remainingVisits < 0) throw new LimitExceeded();
  }

  #gain(set: Set<string>, paths: DataPaths): void {
    this.#count(paths.size);
    for (const path of paths) {
      if (set.has(path)) continue;
      set.add(path);
      if (set.size > maxPaths) throw new LimitExceeded();
      this.#gained = true;
    }
  }
}

/** Returns the keys of maps, which are author texts; keys of lists are numbers. */
function keysOf(paths: DataPaths): DataPaths {
  const isList = (path: string): boolean => !path.startsWith('=') && jsonPath(namesOf(path)).type?.kind === 'list';
  return wholePaths(new Set([...paths].filter((path) => !isList(path))));
}
