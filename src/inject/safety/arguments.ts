/** The words in an administrator's texts (templates and values). */
export type OwnWords = ReadonlySet<string>;

/**
 * The part of a container's `args` that no author may change. Authors may only change:
 * - the value in an argument `--flag=value`,
 * - a plain word (no path) or empty text after an argument `--flag`, and the presence of the flag,
 * - a number, or a list of numbers.
 * The flags must occur in the template. Arguments after `-c`, `-ec`, `--` or another single-dash
 * option are fixed: they may be a script or a program. For known interpreters, plain words are
 * fixed too.
 */
export interface Skeleton {
  /** The fixed arguments in order; numbers are replaced with {@link numberMark}. */
  readonly fixed: readonly string[];
  /** The flags whose presence may differ. */
  readonly flags: readonly string[];
}

const numberMark = '\0number';

/** Words in the names of flags whose value is executed, or chooses what is executed. */
const codeWords: ReadonlySet<string> = new Set(
  'eval exec execute command commands cmd script scripts run shell code expression program split rc rcfile init preload require import'.split(
    ' ',
  ),
);
/** Splits `--splitString`, `--split-string` and `--split_string` into words. */
const wordsOfFlag = /[A-Z]?[a-z0-9]+|[A-Z]+/g;
const flag = /^(--[A-Za-z0-9][\w.-]*)(=?)/;
const numbers = /^(?:\d[\d._,:/]*)?$/;
const word = /^(?:[\w.][\w.:,@+-]*)?$/;
const variableReference = /\$\([A-Za-z_][\w.-]*\)/g;

/** Programs that execute what an argument names, even if the argument is a plain word. */
const interpreter =
  /^(?:(?:[abdkz]|da|ba|fi)?sh|busybox|toybox|env|exec|nice|nohup|timeout|time|xargs|find|watch|tini|dumb-init|catatonit|s6-.*|su|su-exec|gosu|sudo|doas|setpriv|setsid|stdbuf|strace|chroot|unshare|nsenter|ip|ssh|git|make|(?:g|m|n)?awk|sed|ed|vi|vim|nvim|emacs|expect|(?:lua|perl|php|python|ruby|node|deno|bun|java|pwsh|powershell|tclsh|Rscript|osascript|gdb|m4)[\d.]*)$/;

/**
 * Returns the fixed part of a container's arguments.
 * @param command the container's command; its last element precedes the first argument
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

/** Returns the name of a template's own flag, with or without a value, unless it takes code. */
function ownFlag(argument: string, own: OwnWords): string | undefined {
  const [whole, name = '', sign] = flag.exec(argument) ?? [];
  if (whole === undefined || (sign === '' && whole !== argument)) return undefined;
  const takesCode = (name.match(wordsOfFlag) ?? []).some((one) => codeWords.has(one.toLowerCase()));
  return own.has(name) && !takesCode ? name : undefined;
}

/** Reports whether an argument (it has one dash, or only dashes) may take the next as operand. */
function isOption(argument: string): boolean {
  return argument.startsWith('-') && !argument.includes('=') && !flag.test(argument);
}

/** Reports whether a text is one word, which may contain the template's own variable references. */
function isPlainWord(text: string, own: OwnWords): boolean {
  const rest = text.replace(variableReference, (reference) => (own.has(reference.slice(2, -1)) ? 'x' : reference));
  return word.test(rest);
}

function isInterpreter(program: string): boolean {
  return interpreter.test(program.slice(program.lastIndexOf('/') + 1));
}
