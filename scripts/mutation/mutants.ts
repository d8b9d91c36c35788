import ts from 'typescript';

/** A small mistake in a file. */
export interface Mutant {
  readonly id: number;
  readonly file: string;
  readonly line: number;
  /** The line of code, and the change. With the file, these identify a mutant. */
  readonly text: string;
  readonly mutation: string;
}

const { SyntaxKind: Kind } = ts;
const operators: ReadonlyMap<ts.SyntaxKind, readonly string[]> = new Map([
  [Kind.AmpersandAmpersandToken, ['||']],
  [Kind.BarBarToken, ['&&']],
  [Kind.QuestionQuestionToken, ['&&']],
  [Kind.EqualsEqualsEqualsToken, ['!==']],
  [Kind.ExclamationEqualsEqualsToken, ['===']],
  [Kind.LessThanToken, ['<=', '>=']],
  [Kind.LessThanEqualsToken, ['<', '>']],
  [Kind.GreaterThanToken, ['>=', '<=']],
  [Kind.GreaterThanEqualsToken, ['>', '<']],
  [Kind.PlusToken, ['-']],
  [Kind.MinusToken, ['+']],
]);

/**
 * Returns a file with all its mutants. `$m(id)` selects one at run time, so a process can try many.
 * @param first the id of the first mutant
 */
export function withMutants(file: string, source: string, first: number): { mutants: Mutant[]; text: string } {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const mutants: Mutant[] = [];
  const raw = (node: ts.Node): string => node.getText(tree);
  const add = (node: ts.Node, mutation: string): string => {
    const line = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
    const id = first + mutants.length;
    const original = raw(node).replace(/\s+/g, ' ').slice(0, 80);
    const text = source.split('\n', line).at(-1)!.trim();
    mutants.push({ id, file, line, text, mutation: `${original} → ${mutation}` });
    return `$m(${id})`;
  };

  /** Returns the changes of an expression: their names and the changed texts. */
  const changes = (node: ts.Node): (readonly [mutation: string, text: string])[] => {
    if (isName(node)) return [];
    const found: [string, string][] = isCondition(node) ? [['negated', `!(${raw(node)})`]] : [];
    const { parent } = node;
    if (ts.isArrowFunction(parent) && parent.body === node && !ts.isBlock(node)) found.push(['undefined', 'undefined']);
    if (ts.isStringLiteralLike(node)) return [...found, node.text === '' ? ["'x'", "'x'"] : ["''", "''"]];
    if (ts.isTemplateExpression(node)) return [...found, ["''", "''"]];
    if (ts.isNumericLiteral(node)) return [...found, [String(Number(node.text) + 1), String(Number(node.text) + 1)]];
    if (node.kind === Kind.TrueKeyword || node.kind === Kind.FalseKeyword) return [['!', `!${raw(node)}`]];
    if (ts.isPrefixUnaryExpression(node) && node.operator === Kind.ExclamationToken)
      return [['without !', raw(node.operand)]];
    if (ts.isConditionalExpression(node)) {
      const [condition, yes, no] = [node.condition, node.whenTrue, node.whenFalse].map(raw);
      return [...found, ['arms swapped', `(${condition}) ? (${no}) : (${yes})`]];
    }
    if (!ts.isBinaryExpression(node)) return found;
    return [
      ...found,
      ...(operators.get(node.operatorToken.kind) ?? []).map(
        (to) => [to, `(${raw(node.left)}) ${to} (${raw(node.right)})`] as const,
      ),
    ];
  };

  const inside = (node: ts.Node): string => {
    let text = '';
    let at = node.getStart(tree);
    ts.forEachChild(node, (child) => {
      text += source.slice(at, child.getStart(tree)) + render(child);
      at = child.end;
    });
    return text + source.slice(at, node.end);
  };

  const render = (node: ts.Node): string => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return raw(node);
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return raw(node);
    if (ts.isSpreadElement(node) || ts.isSpreadAssignment(node)) {
      const empty = ts.isSpreadElement(node) ? '[]' : '{}';
      return `...(${add(node, 'left out')} ? ${empty} : ${render(node.expression)})`;
    }
    if (
      ts.isBlock(node) &&
      ts.isFunctionLike(node.parent) &&
      !ts.isConstructorDeclaration(node.parent) &&
      node.statements.length > 0
    )
      return `{ if (${add(node.statements[0]!, 'returns before')}) return undefined; ${inside(node).slice(1)}`;
    if (canBeDropped(node)) return `{ if (!${add(node, 'left out')}) { ${inside(node)} } }`;
    const chosen = changes(node).map(([mutation, text]) => `${add(node, mutation)} ? (${text}) : `);
    return chosen.length === 0 ? inside(node) : `(${chosen.join('')}(${inside(node)}))`;
  };
  return { mutants, text: inside(tree) };
}

/** Reports whether a literal is the name of a property, or a tagged template. */
function isName(node: ts.Node): boolean {
  const { parent } = node;
  return (ts.isPropertyAssignment(parent) && parent.name === node) || ts.isTaggedTemplateExpression(parent);
}

/** Reports whether an expression is a condition that no other change negates. */
function isCondition(node: ts.Node): boolean {
  if (ts.isPrefixUnaryExpression(node) || (ts.isBinaryExpression(node) && isComparison(node))) return false;
  const { parent } = node;
  if (ts.isForStatement(parent) || ts.isConditionalExpression(parent)) return parent.condition === node;
  return (ts.isIfStatement(parent) || ts.isWhileStatement(parent)) && parent.expression === node;
}

function isComparison({ operatorToken: { kind } }: ts.BinaryExpression): boolean {
  return (
    [Kind.EqualsEqualsEqualsToken, Kind.ExclamationEqualsEqualsToken].includes(kind) ||
    /[<>]/.test(ts.tokenToString(kind) ?? '')
  );
}

/** Reports whether a mutant may drop a statement. Other changes cover a sole return. */
function canBeDropped(node: ts.Node): boolean {
  if (ts.isReturnStatement(node)) {
    const { statements } =
      ts.isBlock(node.parent) && ts.isFunctionLike(node.parent.parent) ? node.parent : { statements: [] };
    return statements[0] !== node && !(statements.at(-1) === node && node.expression?.getText() === 'undefined');
  }
  if (ts.isExpressionStatement(node)) return !node.getText().startsWith('super(');
  return ts.isThrowStatement(node) || ts.isContinueStatement(node) || ts.isBreakStatement(node);
}
