import type { TemplateWords } from './own-words.ts';

/** Names of flags whose value is code. */
const codeFlag =
  /(?:^|[-_.])(?:exec|eval|command|cmd|script|run|split-string|rcfile|init-file|code|program|shell|expression)(?:$|[-_.])/;
const assignment = /^(--[A-Za-z0-9][\w.-]*)=/;
const plainFlag = /^--[A-Za-z0-9][\w.-]*$/;
const operandFlag = /^-[^-=][^=]*$|^-+$/;
const plainWord = /^(?:[\w./][\w.:,/@+-]*)?$/;
/** Nothing counts as no number. */
const numbers = /^(?:[0-9]+(?:[-+._,:/]*[0-9]*)*)?$/;
const longestNumber = 200;
/** What the templates here start: another one would have to be known to take no plain words. */
const interpreters: ReadonlySet<string> = new Set(['sh', 'bash', 'busybox', 'tini', 'python', 'env', 'node', 'perl']);

const aNumber = '\0number';

/**
 * Whether arguments differ in more than what an author may decide: the value of a flag of the template's own, whether such a flag is there, and numbers.
 * @param accepted the arguments of the pod that was accepted
 * @param reference the same without the author's texts, or with others
 * @param command of the container
 */
export function argumentsDiffer(
  accepted: readonly string[],
  reference: readonly string[],
  command: readonly string[],
  words: TemplateWords,
): boolean {
  const [left, right] = [accepted, reference].map((args) => fixedArguments(args, command, words).join('\0\0'));
  return left !== right;
}

/** The arguments without those that may come and go. */
function fixedArguments(args: readonly string[], command: readonly string[], words: TemplateWords): string[] {
  const programs = command.length > 0 ? command : args.slice(0, 1);
  const interpreted = programs.some((program) => interpreters.has(program.slice(program.lastIndexOf('/') + 1)));
  const fixed: string[] = [];
  let before = command.at(-1) ?? '';
  for (let index = 0; index < args.length; index += 1) {
    const text = args[index]!;
    const [whole, name] = assignment.exec(text) ?? [];
    const isOperand = operandFlag.test(before);
    before = text;
    // `--flag=` or `--flag` stands in the template: what joins the two may be an action.
    const isOwn = name !== undefined && (words.hasFlag(whole!) || words.has(name));
    if (isOwn && !isOperand && !codeFlag.test(name.slice(2))) continue;
    if (!isOperand && plainFlag.test(text) && words.has(text) && !codeFlag.test(text.slice(2))) {
      const operand = args[index + 1];
      if (operand === undefined || interpreted || !plainWord.test(operand)) continue;
      index += 1;
      before = operand;
      continue;
    }
    fixed.push(text.length < longestNumber && numbers.test(text) ? aNumber : text);
  }
  return fixed;
}
