import type {
  BranchNode,
  CommandNode,
  ListNode,
  OperandNode,
  PipeNode,
  StatementNode,
} from '../../template/parse/nodes.ts';
import type { Steps } from '../../template/steps.ts';
import { memberOf, namesOf, nowhere, root, union, whole, type Places } from './data-places.ts';
import { callReads, type Argument } from './function-reads.ts';
import { jsonPlace } from './json-place.ts';

/** What a template does with its data, as far as its text tells: more than any one execution does, never less. */
export interface TemplateReads {
  /** What is put into the output. */
  readonly printed: Places;
  /** What decides on what is put into the output. */
  readonly steering: Places;
  /** Text that is taken apart: JSON, lists. */
  readonly parsed: Places;
}

/**
 * Follows the data through the template of that name and the templates that it calls.
 * @param definitions What parsing has found, by name.
 */
export function templateReads(definitions: ReadonlyMap<string, ListNode>, name: string): Steps<TemplateReads> {
  return new Reading(definitions).read(name);
}

/** Statements that are read in one step, see {@link Steps}. */
const statementsPerStep = 64;

/** How many places are looked at before a template is taken to read everything: their number can grow with a power of its length. */
const mostReads = 1_000_000;
/** The same for the places of one variable, dot or use. */
const mostPlaces = 4096;

const everything: Places = whole(root);

class TooManyReads extends Error {}

/** Where in which definition a statement stands. */
interface Scope {
  readonly definition: string;
  readonly dot: Places;
}

/**
 * Variables and dots only ever gain places, whatever the order of the statements; so reading again until nothing is gained finds all.
 */
class Reading {
  readonly #definitions: ReadonlyMap<string, ListNode>;
  readonly #printed = new Set<string>();
  readonly #steering = new Set<string>();
  readonly #parsed = new Set<string>();
  /** By definition: what it is called with. */
  readonly #dots = new Map<string, Set<string>>();
  /** By definition and name. */
  readonly #variables = new Map<string, Set<string>>();
  #gained = false;
  #statements = 0;
  #left = mostReads;

  constructor(definitions: ReadonlyMap<string, ListNode>) {
    this.#definitions = definitions;
  }

  *read(name: string): Steps<TemplateReads> {
    this.#dots.set(name, new Set(root));
    try {
      while (yield* this.#pass());
    } catch (error) {
      if (!(error instanceof TooManyReads)) throw error;
      return { printed: everything, steering: everything, parsed: everything };
    }
    return { printed: this.#printed, steering: this.#steering, parsed: this.#parsed };
  }

  /** Reads every definition that is known to be called; returns whether anything was gained. */
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
        if (node.pipe.declarations.length === 0) this.#gain(this.#printed, whole(value));
        return;
      }
      case 'template':
        this.#gainOf(this.#dots, node.name, node.pipe === undefined ? nowhere : this.#pipe(node.pipe, scope));
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
    this.#gain(this.#steering, whole(value));
    if (node.type === 'range') {
      const element = memberOf(value, '*');
      const [first, second] = node.pipe.declarations.map(({ names }) => names[0] ?? '');
      // With one variable it is the element; with two the first is the key, which may be an author's text too.
      if (first !== undefined) this.#assign(scope, first, second === undefined ? element : keysOf(value));
      if (second !== undefined) this.#assign(scope, second, element);
      yield* this.#list(node.list, { ...scope, dot: element });
    } else {
      yield* this.#list(node.list, node.type === 'with' ? { ...scope, dot: value } : scope);
    }
    if (node.elseList !== undefined) yield* this.#list(node.elseList, scope);
  }

  /** The value of a pipeline; `forRange` leaves its declarations to the caller. */
  #pipe(pipe: PipeNode, scope: Scope, forRange = false): Places {
    let value: Places | undefined;
    for (const command of pipe.commands) value = this.#command(command, scope, value);
    const result = value ?? nowhere;
    if (!forRange) for (const { names } of pipe.declarations) this.#assign(scope, names[0] ?? '', result);
    return result;
  }

  #command({ operands }: CommandNode, scope: Scope, last: Places | undefined): Places {
    const [first, ...rest] = operands;
    const given: Argument[] = rest.map((operand) => this.#argument(operand, scope));
    for (const { places } of given) this.#count(1 + places.size);
    if (last !== undefined) given.push({ places: last });
    if (first?.type === 'identifier') {
      const { result, steering, parsed, kept = nowhere } = callReads(first.name, given);
      this.#gain(this.#steering, steering);
      this.#gain(this.#parsed, parsed);
      this.#gain(this.#printed, kept);
      return result;
    }
    const value = first === undefined ? nowhere : this.#argument(first, scope).places;
    // A method: what it makes of its arguments is not known.
    return given.length === 0 ? value : whole(union(value, ...given.map(({ places }) => places)));
  }

  #argument(node: OperandNode, scope: Scope): Argument {
    switch (node.type) {
      case 'string':
        return { places: nowhere, literal: node.text };
      case 'dot':
        return { places: scope.dot };
      case 'field':
        return { places: memberOf(scope.dot, ...node.names) };
      case 'variable': {
        const [name = '', ...members] = node.names;
        return { places: memberOf(this.#variable(scope, name), ...members) };
      }
      case 'chain':
        return { places: memberOf(this.#argument(node.node, scope).places, ...node.names) };
      case 'pipe':
        return { places: this.#pipe(node, scope) };
      case 'identifier':
        return {
          places: this.#command({ type: 'command', position: node.position, operands: [node] }, scope, undefined),
        };
      case 'number':
      case 'boolean':
      case 'nil':
        return { places: nowhere };
    }
  }

  #variable({ definition }: Scope, name: string): Places {
    return (name === '$' ? this.#dots.get(definition) : this.#variables.get(`${definition}\0${name}`)) ?? nowhere;
  }

  #assign({ definition }: Scope, name: string, places: Places): void {
    this.#gainOf(this.#variables, `${definition}\0${name}`, places);
  }

  #gainOf(sets: Map<string, Set<string>>, key: string, places: Places): void {
    let set = sets.get(key);
    if (set === undefined) {
      set = new Set();
      sets.set(key, set);
      this.#gained = true;
    }
    this.#gain(set, places);
  }

  #count(places: number): void {
    this.#left -= places;
    if (this.#left < 0) throw new TooManyReads();
  }

  #gain(set: Set<string>, places: Places): void {
    this.#count(places.size);
    for (const place of places) {
      if (set.has(place)) continue;
      set.add(place);
      if (set.size > mostPlaces) throw new TooManyReads();
      this.#gained = true;
    }
  }
}

/** The keys of maps are their authors' text; those of lists are numbers. */
function keysOf(places: Places): Places {
  const isList = (place: string): boolean => !place.startsWith('=') && jsonPlace(namesOf(place)).type?.kind === 'list';
  return whole(new Set([...places].filter((place) => !isList(place))));
}
