/** The words that stand in the texts of an administrator: templates and values. */
export type OwnWords = ReadonlySet<string>;

/**
 * What of a container's `args` no author may change: everything but
 * - the value of an argument `--flag=value`,
 * - a plain word (no path), or nothing, behind an argument `--flag`, and whether such an argument is there at all,
 * - a number, or a list of numbers.
 *
 * The flags must be the template's own words. What follows `-c`, `-ec`, `--` or any other option of a single dash may be a script or a program, so
 * it is fixed, whatever it looks like. No interpreter needs to be known by name for any of that; known ones take no plain words either.
 */
export interface Skeleton {
  /** The arguments that are fixed, in order; numbers have become {@link numberMark}. */
  readonly fixed: readonly string[];
  /** The flags that may come and go. */
  readonly flags: readonly string[];
}

const numberMark = '\0number';

/** Words in the name of a flag whose value is run, or says what is run. */
const codeWords: ReadonlySet<string> = new Set(
  'eval exec execute command commands cmd script scripts run shell code expression program split rc rcfile init preload require import'.split(
    ' ',
  ),
);
/** The words of `--splitString`, `--split-string` and `--split_string`. */
const wordsOfFlag = /[A-Z]?[a-z0-9]+|[A-Z]+/g;
const flag = /^(--[A-Za-z0-9][\w.-]*)(=?)/;
const numbers = /^(?:\d[\d._,:/]*)?$/;
const word = /^(?:[\w.][\w.:,@+-]*)?$/;
const variableReference = /\$\([A-Za-z_][\w.-]*\)/g;

/** Programs that run what their arguments name; a word is enough for them. */
const interpreter =
  /^(?:(?:[abdkz]|da|ba|fi)?sh|busybox|toybox|env|exec|nice|nohup|timeout|time|xargs|find|watch|tini|dumb-init|catatonit|s6-.*|su|su-exec|gosu|sudo|doas|setpriv|setsid|stdbuf|strace|chroot|unshare|nsenter|ip|ssh|git|make|(?:g|m|n)?awk|sed|ed|vi|vim|nvim|emacs|expect|(?:lua|perl|php|python|ruby|node|deno|bun|java|pwsh|powershell|tclsh|Rscript|osascript|gdb|m4)[\d.]*)$/;

/**
 * @param args the arguments of a container, as text
 * @param command its command; the last of it stands before the first argument
 * @param own the administrator's words
 */
export function skeletonOf(args: readonly string[], command: readonly string[], own: OwnWords): Skeleton {
  const interpreted = [...command, ...(command.length === 0 ? args.slice(0, 1) : [])].some(isInterpreter);
  const fixed: string[] = [];
  const flags: string[] = [];
  let before = command.at(-1) ?? '';
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index] ?? '';
    const name = isOption(before) ? undefined : ownFlag(argument, own);
    before = argument;
    if (name === undefined) {
      fixed.push(numbers.test(argument) ? numberMark : argument);
      continue;
    }
    flags.push(name);
    const operand = args[index + 1];
    if (name !== argument || interpreted || operand === undefined || !isPlainWord(operand, own)) continue;
    // The operand belongs to its flag.
    index += 1;
    before = operand;
  }
  return { fixed, flags };
}

/** The name of a flag, with or without a value, that is the template's own and takes no code. */
function ownFlag(argument: string, own: OwnWords): string | undefined {
  const [whole, name = '', sign] = flag.exec(argument) ?? [];
  if (whole === undefined || (sign === '' && whole !== argument)) return undefined;
  const takesCode = (name.match(wordsOfFlag) ?? []).some((one) => codeWords.has(one.toLowerCase()));
  return own.has(name) && !takesCode ? name : undefined;
}

/** Whether what follows may be its operand: an option of one dash, or dashes alone. */
function isOption(argument: string): boolean {
  return argument.startsWith('-') && !argument.includes('=') && !flag.test(argument);
}

/** Whether a text is one word: references to variables are the template's own. */
function isPlainWord(text: string, own: OwnWords): boolean {
  const rest = text.replace(variableReference, (reference) => (own.has(reference.slice(2, -1)) ? 'x' : reference));
  return word.test(rest);
}

function isInterpreter(program: string): boolean {
  return interpreter.test(program.slice(program.lastIndexOf('/') + 1));
}
