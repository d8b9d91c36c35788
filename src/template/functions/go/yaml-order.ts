const letter = /\p{L}/u;
const digit = /\p{Nd}/u;

/** Compares keys as go-yaml does: numbers by value, letters after other characters. */
export function compareKeys(left: string, right: string): number {
  const a = Array.from(left);
  const b = Array.from(right);
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index += 1) {
    if (a[index] !== b[index]) return compareFrom(a, b, index);
  }
  return a.length - b.length;
}

/** Compares from the first different character. */
function compareFrom(a: readonly string[], b: readonly string[], index: number): number {
  const [left, right] = [a[index] as string, b[index] as string];
  const leftIsLetter = letter.test(left);
  const rightIsLetter = letter.test(right);
  const byCode = (left.codePointAt(0) as number) - (right.codePointAt(0) as number);
  if (leftIsLetter && rightIsLetter) return byCode;
  if (leftIsLetter || rightIsLetter) return rightIsLetter ? -1 : 1;
  // A differing zero counts only if it is not a leading zero.
  const inNumber = (left === '0' || right === '0') && followsDigit(a, index) ? 1n : 0n;
  const [leftValue, leftEnd] = readDigits(a, index, inNumber);
  const [rightValue, rightEnd] = readDigits(b, index, inNumber);
  if (leftValue !== rightValue) return leftValue < rightValue ? -1 : 1;
  return leftEnd === rightEnd ? byCode : leftEnd - rightEnd;
}

/** Reports whether the digits before the index include one that is not zero. */
function followsDigit(characters: readonly string[], index: number): boolean {
  for (let at = index - 1; at >= 0 && digit.test(characters[at] as string); at -= 1) {
    if (characters[at] !== '0') return true;
  }
  return false;
}

/** Returns the number at the index, in int64 arithmetic, and the index after the number. */
function readDigits(characters: readonly string[], index: number, start: bigint): [bigint, number] {
  let value = start;
  let at = index;
  for (; at < characters.length && digit.test(characters[at] as string); at += 1) {
    value = BigInt.asIntN(64, value * 10n + BigInt((characters[at] as string).codePointAt(0) as number) - 48n);
  }
  return [value, at];
}
