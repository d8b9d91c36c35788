import { readDigits } from '../../integer.ts';

/** A version of github.com/Masterminds/semver: the minor, the patch and the v are optional. */
export type SemanticVersion = Readonly<ReturnType<typeof parseVersion>>;

const form =
  /^v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

/** @throws Error with the library's message for an invalid version */
export function parseVersion(original: string) {
  const match = form.exec(original);
  if (match === null) throw new Error('invalid semantic version');
  const [, major, minor, patch, prerelease = '', metadata = ''] = match;
  if (prerelease.split('.').some((part) => /^0[0-9]+$/.test(part))) throw new Error('version segment starts with 0');
  return { original, major: segment(major), minor: segment(minor), patch: segment(patch), prerelease, metadata };
}

function segment(digits = '0'): bigint {
  const value = readDigits(digits);
  if (value >= 2n ** 64n) {
    throw new Error(`error parsing version segment: strconv.ParseUint: parsing "${digits}": value out of range`);
  }
  return value;
}

/** Formats as MAJOR.MINOR.PATCH-PRERELEASE+METADATA, without the v. */
export function formatVersion(version: Omit<SemanticVersion, 'original'>): string {
  const { major, minor, patch, prerelease, metadata } = version;
  return `${major}.${minor}.${patch}${prerelease === '' ? '' : `-${prerelease}`}${metadata === '' ? '' : `+${metadata}`}`;
}

function order<Value extends bigint | string>(left: Value, right: Value): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

/** Compares by precedence: negative, 0 or positive. Ignores metadata. */
export function compareVersions(left: SemanticVersion, right: SemanticVersion): number {
  const numbers = order(left.major, right.major) || order(left.minor, right.minor) || order(left.patch, right.patch);
  if (numbers !== 0) return numbers;
  return comparePrereleases(left.prerelease, right.prerelease);
}

/** Compares prereleases: the empty prerelease is last; a prefix precedes longer prereleases. */
export function comparePrereleases(left: string, right: string): number {
  if (left === right) return 0;
  if (left === '' || right === '') return left === '' ? 1 : -1;
  const [a, b] = [left.split('.'), right.split('.')];
  let index = 0;
  while (a[index] === b[index]) index += 1;
  return comparePart(a[index] ?? '', b[index] ?? '');
}

/** Compares parts: numbers come before words. */
function comparePart(left: string, right: string): number {
  if (left === '' || right === '') return order(left, right);
  const leftIsNumber = isNumber(left);
  const rightIsNumber = isNumber(right);
  if (leftIsNumber && rightIsNumber) return order(readDigits(left), readDigits(right));
  if (leftIsNumber || rightIsNumber) return leftIsNumber ? -1 : 1;
  return order(left, right);
}

function isNumber(part: string): boolean {
  return /^[0-9]+$/.test(part) && readDigits(part) < 2n ** 64n;
}
