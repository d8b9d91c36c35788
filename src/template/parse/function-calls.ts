import { atOnce } from '../../steps/steps.ts';
import { parseTemplate } from './parser.ts';
import { SourceText } from './source-text.ts';

/** A call of a function in a template. */
export interface FunctionCall {
  readonly name: string;
  /** The line, from 1. */
  readonly line: number;
  /** The column, from 1. */
  readonly column: number;
}

/**
 * Lists the calls of functions in a template and its definitions. Accepts any function name.
 * @throws TemplateError of kind `syntax`
 */
export function functionCalls(text: string, delimiters: readonly [string, string]): FunctionCall[] {
  const source = new SourceText('inject', text);
  const options = { delimiters, isFunction: () => true, functionNames: () => [], unavailable: {} };
  const calls: FunctionCall[] = [];
  const look = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(look);
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return;
    const { type, name, position } = node as { type?: string; name?: string; position?: number };
    if (type === 'identifier' && name !== undefined && position !== undefined) {
      const column = position - text.lastIndexOf('\n', position - 1);
      calls.push({ name, line: source.line(position), column });
    }
    Object.values(node).forEach(look);
  };
  for (const tree of atOnce(parseTemplate(source, options)).values()) look(tree);
  return calls.sort((one, other) => one.line - other.line || one.column - other.column);
}
