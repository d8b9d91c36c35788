import { PipelineCompiler } from './compile-pipeline.ts';
import type { Execution, Run } from './execution.ts';
import type { ActionNode, BranchNode, ListNode, PipeNode, StatementNode, TemplateNode } from '../parse/nodes.ts';
import type { GoFunction } from '../functions/go/go-function.ts';
import { printValue } from '../functions/go/print-value.ts';
import { iterate } from './range.ts';
import type { Steps } from '../../steps/steps.ts';
import type { Readings } from './readings.ts';
import { rememberedList } from './remembered-list.ts';
import { isTrue } from '../value-kind.ts';

/** The number of statements compiled in one step; see {@link Steps}. */
const statementsPerStep = 64;

export class Compiler {
  readonly #pipelines: PipelineCompiler;
  readonly #readings: Readings | undefined;
  #statements = 0;

  /** @param readings collects the data that statements read; undefined disables remembering */
  constructor(functionOf: (name: string) => GoFunction, readings: Readings | undefined) {
    this.#pipelines = new PipelineCompiler(functionOf, readings);
    this.#readings = readings;
  }

  /**
   * Compiles a list of statements.
   * @param keep whether outputs may be remembered; false in {{range}} and {{with}}, which change
   * the dot
   */
  *list(node: ListNode, keep: boolean): Steps<Run> {
    const readings = keep ? this.#readings : undefined;
    const statements: Run[] = [];
    let kept: Run[] = [];
    const flush = (): void => {
      if (readings !== undefined && kept.length > 0) statements.push(rememberedList(kept, readings));
      kept = [];
    };
    for (const statement of node.nodes) {
      const run = yield* this.#statement(statement, keep);
      const declares = statement.type === 'action' && statement.pipe.declarations.length > 0;
      if (readings === undefined || declares) {
        flush();
        statements.push(run);
      } else {
        kept.push(run);
      }
    }
    flush();
    return (execution, dot) => {
      for (const statement of statements) {
        const completion = statement(execution, dot);
        if (completion !== 'done') return completion;
      }
      return 'done';
    };
  }

  *#statement(node: StatementNode, keep: boolean): Steps<Run> {
    this.#statements += 1;
    if (this.#statements % statementsPerStep === 0) yield;
    switch (node.type) {
      case 'text':
        return (execution) => {
          execution.node = node;
          execution.write(node.text);
          return 'done';
        };
      case 'action':
        return this.#action(node);
      case 'break':
      case 'continue': {
        const { type } = node;
        return () => type;
      }
      case 'template':
        return this.#templateCall(node);
      case 'range':
        return yield* this.#range(node);
      default:
        return yield* this.#conditional(node, keep);
    }
  }

  #action(node: ActionNode): Run {
    const evaluate = this.#pipelines.pipeline(node.pipe);
    const declares = node.pipe.declarations.length > 0;
    return (execution, dot) => {
      const value = evaluate(execution, dot);
      if (declares) return 'done';
      execution.node = node;
      execution.write(typeof value === 'string' ? value : printValue(execution, value));
      return 'done';
    };
  }

  /** Compiles {{if}} and {{with}}, which differ only in the dot. */
  *#conditional(node: BranchNode, keep: boolean): Steps<Run> {
    const condition = this.#pipelines.pipeline(node.pipe);
    const setsDot = node.type === 'with';
    const list = yield* this.list(node.list, keep && !setsDot);
    const elseList = node.elseList === undefined ? undefined : yield* this.list(node.elseList, keep);
    return (execution, dot) => {
      const mark = execution.variables.length;
      const value = condition(execution, dot);
      let completion: ReturnType<Run> = 'done';
      if (isTrue(value, execution.meter)) completion = list(execution, setsDot ? value : dot);
      else if (elseList !== undefined) completion = elseList(execution, dot);
      execution.unwind(mark);
      return completion;
    };
  }

  *#range(node: BranchNode): Steps<Run> {
    const evaluate = this.#pipelines.pipeline(node.pipe);
    const list = yield* this.list(node.list, false);
    const elseList = node.elseList === undefined ? undefined : yield* this.list(node.elseList, false);
    const bind = bindIteration(node.pipe);
    return (execution, dot) => {
      const outer = execution.variables.length;
      const value = evaluate(execution, dot);
      const mark = execution.variables.length;
      const some = iterate(execution, value, node.pipe.declarations.length, (index, element) => {
        execution.step();
        bind(execution, index, element);
        const completion = list(execution, element);
        execution.unwind(mark);
        return completion !== 'break';
      });
      const completion = some || elseList === undefined ? 'done' : elseList(execution, dot);
      execution.unwind(outer);
      // As in Go, a {{break}} in {{else}} ends this range; {{continue}} applies to the outer one.
      return completion === 'break' ? 'done' : completion;
    };
  }

  #templateCall(node: TemplateNode): Run {
    const evaluate = node.pipe === undefined ? undefined : this.#pipelines.pipeline(node.pipe);
    const passesDot = node.pipe?.commands.every(({ operands }) => operands.every(({ type }) => type === 'dot'));
    return (execution, dot) => {
      execution.node = node;
      execution.step();
      const body = execution.program.templates.get(node.name);
      if (body === undefined) throw execution.error(`template "${node.name}" not defined`);
      const { reads } = execution;
      // The called template reads the dot; this statement does not.
      if (passesDot === true) execution.reads = undefined;
      const argument = evaluate?.(execution, dot);
      execution.reads = reads;
      execution.call(node.name, body, argument);
      return 'done';
    };
  }
}

/** Sets a range's variables: the last gets the element; the first of two gets the index or key. */
function bindIteration(pipe: PipeNode): (execution: Execution, index: unknown, element: unknown) => void {
  const [first, second] = pipe.declarations.map((variable) => String(variable.names[0]));
  if (first === undefined) return () => undefined;
  return (execution, index, element) => {
    execution.variable(first).value = second === undefined ? element : index;
    if (second !== undefined) execution.variable(second).value = element;
  };
}
