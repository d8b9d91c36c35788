import { createRequire } from 'node:module';
import type * as Recheck from 'recheck';
import { findExpressions, sourceFiles, type FoundExpression } from './find-expressions.ts';
import type { Slow } from './growth.ts';

/** The part of the package that is JavaScript only: no Java, no binary. */
const { checkSync } = createRequire(import.meta.url)('recheck/lib/browser.js') as typeof Recheck;

/** Expressions that are made of other texts than a literal, or that are not linear, by file and how they begin; each with why no author's text stops them. */
const exceptions: readonly (readonly [file: string, beginning: string, reason: string])[] = [
  ['src/api/revision-tag/rollout-strategy.ts', '', 'made of constants; its texts have at most 24 characters'],
  ['src/inject/configuration/family.ts', '', 'made of a constant; reads templates when they are loaded'],
  [
    'src/template/functions/sprig/version-constraint.ts',
    '(v?',
    'a constraint of more than 512 bytes is refused before',
  ],
];

export interface Checked {
  readonly safe: number;
  /** Not decided in the time there was; the full size has more. */
  readonly undecided: number;
  readonly slow: readonly Slow[];
}

/** Checks every regular expression of the source. @param milliseconds the most that one may take */
export function checkExpressions(milliseconds: number, undecidedIsSlow: boolean): Checked {
  return checkAll(
    sourceFiles().flatMap((file) => findExpressions(file)),
    milliseconds,
    undecidedIsSlow,
  );
}

/** What is said of such expressions. */
export function checkAll(
  expressions: readonly FoundExpression[],
  milliseconds: number,
  undecidedIsSlow: boolean,
): Checked {
  const verdicts = new Map<string, string>();
  const slow: Slow[] = [];
  let undecided = 0;
  for (const { file, line, source, flags } of expressions) {
    if (exceptions.some(([known, begin]) => known === file && (source ?? '').startsWith(begin))) continue;
    const name = `${file}:${line} ${source === undefined ? 'RegExp of a variable' : `/${source}/${flags}`}`;
    const key = `${String(source)}/${flags}`;
    const verdict = source === undefined ? 'not a literal' : (verdicts.get(key) ?? judge(source, flags, milliseconds));
    verdicts.set(key, verdict);
    if (verdict === 'linear') continue;
    if (verdict === 'undecided' && !undecidedIsSlow) undecided += 1;
    else slow.push({ name, reason: verdict });
  }
  return { safe: expressions.length - slow.length - undecided, undecided, slow };
}

function judge(source: string, flags: string, timeout: number): string {
  const found = checkSync(source, flags, { timeout, randomSeed: 1 });
  if (found.status === 'unknown') return 'undecided';
  return found.status === 'safe' ? 'linear' : found.complexity.summary;
}
