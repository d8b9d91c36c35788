/**
 * Checks that no input of an author takes more than linear time: analyses the regular expressions
 * of `src`, and measures template functions and the engine with hostile input of growing length. It
 * also checks that it finds two planted mistakes.
 *
 *     linear-time.ts [--full] [--only expressions|functions|engine]
 */
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import type * as Recheck from 'recheck';
import { string } from '../src/template/exec/parameters.ts';
import { goFunction, type FunctionTable } from '../src/template/functions/go/go-function.ts';
import { engineInjections } from './linear-time/engine-injections.ts';
import { findExpressions, sourceFiles, type FoundExpression } from './linear-time/find-expressions.ts';
import { functionCalls } from './linear-time/function-calls.ts';
import { superlinear, tooLong, type Slow } from './linear-time/growth.ts';

/** The JavaScript part of recheck, which needs neither Java nor a binary. */
const { checkSync } = createRequire(import.meta.url)('recheck/lib/browser.js') as typeof Recheck;

/** Exceptions: expressions that are superlinear or not literal, and why they are safe. */
const exceptions: readonly (readonly [file: string, beginning: string, reason: string])[] = [
  ['src/cli/install/values-schema.ts', '', 'patterns of our own chart; reads the values of the installing user'],
  ['src/api/revision-tag/rollout-strategy.ts', '', 'built from constants; its texts have at most 24 characters'],
  ['src/inject/configuration/family.ts', '', 'built from a constant; reads templates at load time'],
  [
    'src/template/functions/sprig/version-constraint.ts',
    '(v?',
    'the engine refuses constraints of more than 512 bytes',
  ],
];

interface Checked {
  readonly safe: number;
  /** The number of expressions whose check timed out; `--full` has a longer timeout. */
  readonly undecided: number;
  readonly slow: readonly Slow[];
}

/** Checks regular expressions. `milliseconds` is the timeout for checking each expression. */
function check(expressions: readonly FoundExpression[], milliseconds: number, undecidedIsSlow: boolean): Checked {
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

const { values } = parseArgs({ options: { full: { type: 'boolean', default: false }, only: { type: 'string' } } });
const { full } = values;
const slow: Slow[] = [];
let passed = 0;

function isSelected(part: string): boolean {
  return values.only === undefined || values.only === part;
}

if (isSelected('expressions')) {
  const expressions = sourceFiles().flatMap((file) => findExpressions(file));
  const checked = check(expressions, full ? 30_000 : 50, full);
  passed += checked.safe;
  slow.push(...checked.slow);
  console.log(`expressions: ${checked.safe} linear, ${checked.undecided} undecided, ${checked.slow.length} not linear`);
}

if (isSelected('functions')) {
  const figures = measure(functionCalls(full));
  console.log(`functions: ${figures.measured} calls with hostile arguments, ${figures.found} more than linear`);
}

if (isSelected('engine')) {
  let measured = 0;
  let longest = { name: 'none', milliseconds: 0 };
  for (const { name, run } of engineInjections(full)) {
    const { milliseconds, reason } = tooLong(run);
    measured += 1;
    if (milliseconds > longest.milliseconds) longest = { name, milliseconds };
    if (reason === undefined) passed += 1;
    else slow.push({ name, reason });
  }
  console.log(`engine: ${measured} pods, the slowest ${longest.milliseconds.toFixed(0)} ms: ${longest.name}`);
}

const planted = plantedFound();
console.log(`planted: ${planted} of 2 found`);
if (planted === 2) passed += 1;
else slow.push({ name: 'planted', reason: 'a planted mistake was not found' });

for (const { name, reason } of slow) console.log(`FAIL ${name}: ${reason}`);
console.log(`${passed} passed, ${slow.length} failed`);
process.exitCode = slow.length === 0 ? 0 : 1;

/** Measures calls. Skips an argument position that was slow twice. */
function measure(calls: Iterable<{ name: string; prepare: (length: number) => () => unknown; length: number }>): {
  measured: number;
  found: number;
} {
  const foundAt = new Map<string, number>();
  let measured = 0;
  let found = 0;
  for (const { name, prepare, length } of calls) {
    const [position = ''] = name.split(':');
    if ((foundAt.get(position) ?? 0) >= 2) continue;
    measured += 1;
    const reason = superlinear(prepare, length);
    if (reason === undefined) {
      passed += 1;
      continue;
    }
    found += 1;
    foundAt.set(position, (foundAt.get(position) ?? 0) + 1);
    slow.push({ name, reason });
  }
  return { measured, found };
}

/** Returns how many of two planted mistakes it finds: a quadratic expression and function. */
function plantedFound(): number {
  const expressions = findExpressions('planted.ts', 'export const planted = /^(\\d+)*x|,+$/;');
  const functions: FunctionTable = { planted: goFunction([string], (text) => text.replace(/ *x/g, '')) };
  const call = [...functionCalls(false, functions)].find(({ name }) => name.includes('" "…'));
  const isFound = [
    check(expressions, 5000, true).slow.length === 1,
    call !== undefined && superlinear(call.prepare, 16_384) !== undefined,
  ];
  return isFound.filter(Boolean).length;
}
