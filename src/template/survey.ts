import type { Functions } from './compile-pipeline.ts';
import type { ListNode, OperandNode, PipeNode } from './nodes.ts';
import type { Steps } from './steps.ts';

/** What keeps one from knowing what a template's output depends on. */
export interface TreeSurvey {
  /** The variables that are set after they have been declared. */
  readonly assigned: ReadonlySet<string>;
  /** The templates that are called. */
  readonly called: ReadonlySet<string>;
  /** Whether a function may change the data. */
  readonly changesData: boolean;
}

/** Looks through whole trees; one in each step. */
export function* surveyTrees(trees: Iterable<ListNode>, functions: Functions): Steps<TreeSurvey> {
  const assigned = new Set<string>();
  const called = new Set<string>();
  let changesData = false;

  function list(node: ListNode | undefined): void {
    for (const statement of node?.nodes ?? []) {
      if (statement.type === 'template') called.add(statement.name);
      if ('pipe' in statement && statement.pipe !== undefined) pipeline(statement.pipe);
      if (!('list' in statement)) continue;
      list(statement.list);
      list(statement.elseList);
    }
  }

  function pipeline(node: PipeNode): void {
    if (node.isAssignment) for (const { names } of node.declarations) assigned.add(String(names[0]));
    for (const { operands } of node.commands) for (const one of operands) operand(one);
  }

  function operand(node: OperandNode): void {
    if (node.type === 'pipe') pipeline(node);
    if (node.type === 'chain') operand(node.node);
    if (node.type === 'identifier' && functions.get(node.name)?.traits.changesData === true) changesData = true;
  }

  for (const tree of trees) {
    list(tree);
    yield;
  }
  return { assigned, called, changesData };
}
