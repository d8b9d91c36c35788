import { InvalidArgumentError } from 'commander';

/** Reads `LEFT,RIGHT`, for example `[[,]]`. */
export function parseDelimiters(text: string): readonly [string, string] {
  const [left = '', right = '', ...rest] = text.split(',');
  if (left === '' || right === '' || rest.length > 0) {
    throw new InvalidArgumentError(
      'It must be the left and the right delimiter with a comma between, for example [[,]].',
    );
  }
  return [left, right];
}
