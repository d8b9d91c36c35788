import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/** A regular expression in the source. */
export interface FoundExpression {
  readonly file: string;
  readonly line: number;
  /** The pattern; undefined for `new RegExp` with a value that is not a literal. */
  readonly source: string | undefined;
  readonly flags: string;
}

/** Returns the source files without tests and test data. */
export function sourceFiles(): string[] {
  return readdirSync('src', { recursive: true, encoding: 'utf8' })
    .map((file) => `src/${file}`)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.includes('/testdata/'))
    .sort();
}

/** Returns the regular expressions of a file: literals and calls of RegExp. */
export function findExpressions(file: string, text = readFileSync(file, 'utf8')): FoundExpression[] {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: FoundExpression[] = [];
  const add = (node: ts.Node, source: string | undefined, flags: string): void => {
    const { line } = tree.getLineAndCharacterOfPosition(node.getStart());
    found.push({ file, line: line + 1, source, flags });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      add(node, node.text.slice(1, end), node.text.slice(end + 1));
    } else if (makesExpression(node)) {
      const [source, flags] = node.arguments ?? [];
      add(node, literalText(source), literalText(flags) ?? '');
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

function makesExpression(node: ts.Node): node is ts.NewExpression | ts.CallExpression {
  return (
    (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
    ts.isIdentifier(node.expression) &&
    node.expression.text === 'RegExp'
  );
}

function literalText(node: ts.Expression | undefined): string | undefined {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : undefined;
}
