import { isNode, LineCounter, parseDocument } from 'yaml';

/** Where a path stands in a YAML text, as ` (line 3, column 5)`; empty when it stands nowhere. For error messages only: it parses the text again. */
export function locateInYaml(text: string, path: readonly (string | number)[]): string {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter });
  for (let depth = path.length; depth > 0; depth -= 1) {
    const node: unknown = document.getIn(path.slice(0, depth), true);
    if (!isNode(node) || !node.range) continue;
    const { line, col } = lineCounter.linePos(node.range[0]);
    return ` (line ${line}, column ${col})`;
  }
  return '';
}
