import { Buffer } from 'node:buffer';
import { quoteString } from '../../quote.ts';
import { comparePrereleases, compareVersions, parseVersion, type SemanticVersion } from './semantic-version.ts';

/** One comparison: `>=1.2`, `~1`, `^2.x`. */
interface Constraint {
  readonly check: Check;
  readonly version: SemanticVersion;
  readonly anyMinor: boolean;
  readonly anyPatch: boolean;
  /** Whether any of the three numbers is unspecified. */
  readonly open: boolean;
}

/** Matches the longest operator; the empty operator is valid. */
const operator = /!=|>=|=>|<=|=<|~>|[=><~^]|/y;
const version =
  /v?([0-9|xX*]+)(\.[0-9|xX*]+)?(\.[0-9|xX*]+)?(-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?/y;
/** Two versions with a hyphen between them. */
const range =
  /(v?[0-9|xX*]+(?:\.[0-9|xX*]+){0,2}(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?)\s+-\s+(v?[0-9|xX*]+(?:\.[0-9|xX*]+){0,2}(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?)\s*/g;
const longest = 512;
const mostGroups = 32;

/**
 * Reports whether a version satisfies a constraint like `>=1.2, <2 || ^3` (Masterminds/semver 3.5).
 * @throws Error with the library's message if the constraint or the version is malformed
 */
export function satisfies(constraint: string, versionText: string): boolean {
  if (Buffer.byteLength(constraint) > longest) throw new Error(`constraint string is too long (max ${longest} bytes)`);
  const groups = rewriteRanges(constraint).split('||');
  if (groups.length > mostGroups) throw new Error(`too many constraint groups (max ${mostGroups})`);
  const parsed = groups.map(parseGroup);
  const candidate = parseVersion(versionText);
  return parsed.some((group) => {
    const prereleases = group.some(({ version: { prerelease } }) => prerelease !== '');
    if (candidate.prerelease !== '' && !prereleases) return false;
    return group.every((one) => one.check(one, candidate, compareVersions(candidate, one.version)));
  });
}

/** Rewrites 1.2 - 2.3 to >= 1.2, <= 2.3. */
function rewriteRanges(constraint: string): string {
  const pieces: string[] = [];
  let end = 0;
  for (const match of constraint.matchAll(range)) {
    const [all, from, to] = match;
    pieces.push(constraint.slice(end, match.index).trimEnd(), `>= ${String(from)}, <= ${String(to)} `);
    end = match.index + all.length;
  }
  return pieces.join('') + constraint.slice(end);
}

/** Parses constraints separated by spaces or commas. */
function parseGroup(group: string): Constraint[] {
  const found: [sign: string, numbers: RegExpExecArray][] = [];
  let at = skipSpace(group, 0);
  for (;;) {
    const [sign = ''] = matchAt(operator, group, at) ?? [];
    const numbers = matchAt(version, group, skipSpace(group, at + sign.length));
    if (numbers === null) throw new Error(`improper constraint: ${quoteString(group)}`);
    found.push([sign, numbers]);
    const end = numbers.index + numbers[0].length;
    at = skipSpace(group, end);
    if (at === group.length) return found.map(constraintOf);
    if (group[at] === ',') at = skipSpace(group, at + 1);
    else if (at === end) throw new Error(`improper constraint: ${quoteString(group)}`);
  }
}

function matchAt(expression: RegExp, text: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at;
  return expression.exec(text);
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text.charAt(at))) at += 1;
  return at;
}

function constraintOf([sign, [, major, minor, patch, prerelease = '']]: [string, RegExpExecArray]): Constraint {
  const anyMajor = isOpen(major);
  const anyMinor = !anyMajor && isOpen(minor);
  const anyPatch = !anyMajor && !anyMinor && isOpen(patch);
  let numbers = `${String(major)}${String(minor)}${String(patch)}`;
  if (anyMajor) numbers = '0.0.0';
  else if (anyMinor) numbers = `${String(major)}.0.0`;
  else if (anyPatch) numbers = `${String(major)}${String(minor)}.0`;
  return {
    check: checks[sign] as Check,
    version: parsed(numbers + prerelease),
    anyMinor,
    anyPatch,
    open: anyMajor || anyMinor || anyPatch,
  };
}

function parsed(text: string): SemanticVersion {
  try {
    return parseVersion(text);
  } catch (error) {
    throw new Error('constraint parser error', { cause: error });
  }
}

function isOpen(part: string | undefined): boolean {
  return part === undefined || /^\.?[xX*]$/.test(part);
}

/** @param compared the comparison of the candidate with the constraint's version */
type Check = (constraint: Constraint, candidate: SemanticVersion, compared: number) => boolean;

const isOther: Check = ({ version: required, anyMinor, anyPatch, open }, candidate, compared) => {
  if (!open) return compared !== 0;
  if (required.major !== candidate.major) return true;
  if (anyMinor) return false;
  if (required.minor !== candidate.minor) return true;
  if (anyPatch) return comparePrereleases(candidate.prerelease, required.prerelease) !== 0;
  return required.patch !== candidate.patch || compared !== 0;
};

const isGreater: Check = ({ version: required, anyMinor, anyPatch, open }, candidate, compared) => {
  if (!open || candidate.major !== required.major) return compared > 0;
  if (anyMinor) return false;
  return anyPatch ? candidate.minor > required.minor : compared > 0;
};

const isAtLeast: Check = (_constraint, _candidate, compared) => compared >= 0;

const isAtMost: Check = ({ version: required, anyMinor, open }, candidate, compared) => {
  if (!open) return compared <= 0;
  if (candidate.major !== required.major) return candidate.major < required.major;
  return anyMinor || candidate.minor <= required.minor;
};

/** Accepts a different patch, and a different minor if the constraint has none. */
const isTilde: Check = ({ version: required, anyMinor, anyPatch }, candidate, compared) => {
  if (compared < 0) return false;
  const zero = required.major === 0n && required.minor === 0n && required.patch === 0n;
  if (zero && !anyMinor && !anyPatch) return true;
  return candidate.major === required.major && (anyMinor || candidate.minor === required.minor);
};

/** Accepts versions with the same first non-zero number. */
const isCaret: Check = ({ version: required, anyMinor, anyPatch }, candidate, compared) => {
  if (compared < 0) return false;
  if (required.major > 0n || anyMinor) return candidate.major === required.major;
  if (candidate.major > 0n) return false;
  if (required.minor > 0n || anyPatch) return candidate.minor === required.minor;
  return candidate.minor === 0n && candidate.patch === required.patch;
};

const isEqual: Check = (constraint, candidate, compared) =>
  constraint.open ? isTilde(constraint, candidate, compared) : compared === 0;

/** The check for each operator that may precede a version. */
const checks: Readonly<Record<string, Check>> = {
  '': isEqual,
  '=': isEqual,
  '!=': isOther,
  '>': isGreater,
  '<': (_constraint, _candidate, compared) => compared < 0,
  '>=': isAtLeast,
  '=>': isAtLeast,
  '<=': isAtMost,
  '=<': isAtMost,
  '~': isTilde,
  '~>': isTilde,
  '^': isCaret,
};
