import type { OwnWords } from './own-words.ts';

/** Names of flags whose value is code. */
const codeFlag =
  /(?:^|[-_.])(?:exec|eval|command|cmd|script|run|split-string|rcfile|init-file|code|program|shell|expression)(?:$|[-_.])/;
const assignment = /^--?([A-Za-z0-9][\w.-]*)=/;
const plainFlag = /^--[A-Za-z0-9][\w.-]*$/;
const operandFlag = /^-[^-=][^=]*$/;
const numbers = /^[-+]?[0-9]+(?:[-+.,:eE ]+[0-9]+)*$/;
/** What a template prints for a text that is not there. */
const nothings: ReadonlySet<string> = new Set(['', '<no value>']);

const aNumber = Symbol('a number');
type Fixed = string | typeof aNumber;

/**
 * Whether arguments differ in more than what an author may decide: the value of a flag of the template's own, whether such a flag is there, and numbers.
 * @param accepted the arguments of the pod that was accepted
 * @param reference the same without the author's texts, or with others
 */
export function argumentsDiffer(accepted: readonly string[], reference: readonly string[], words: OwnWords): boolean {
  const [left, right] = [fixedArguments(accepted, words), fixedArguments(reference, words)];
  let at = 0;
  for (const one of left) {
    if (one !== aNumber) {
      while (right[at] === aNumber) at += 1;
      if (right[at] !== one) return true;
      at += 1;
    } else {
      const other = right[at];
      if (other === aNumber || (other !== undefined && nothings.has(other))) at += 1;
    }
  }
  return right.slice(at).some((one) => one !== aNumber);
}

/** The arguments without those that may come and go. */
function fixedArguments(args: readonly string[], words: OwnWords): Fixed[] {
  return args.flatMap((text, index): Fixed[] => {
    const isOperand = index > 0 && operandFlag.test(args[index - 1]!);
    const name = assignment.exec(text);
    if (name !== null && !isOperand && words.hasFlag(name[0]) && !codeFlag.test(name[1]!)) return [];
    if (plainFlag.test(text) && words.has(text)) return [];
    return [numbers.test(text) ? aNumber : text];
  });
}
