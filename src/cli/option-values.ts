import { InvalidArgumentError } from 'commander';

/** Returns a parser of numbers from `least` to `most` with the given pattern. */
function numberWithin(pattern: RegExp, least: number, most: number, message: string) {
  return (text: string): number => {
    const value = Number(text);
    if (!pattern.test(text) || value < least || value > most) throw new InvalidArgumentError(message);
    return value;
  };
}

const decimal = /^\d+(\.\d+)?$/;
const portMessage = 'It must be a port: a number from 0 (any free port) to 65535.';

/** Parses a port; 0 means any free port. */
export const parsePort = numberWithin(/^\d+$/, 0, 65_535, portMessage);
/** Parses seconds, up to an hour. */
export const parseSeconds = numberWithin(decimal, 0, 3600, 'It must be a number of seconds from 0 to 3600.');
/** Parses a whole number from 1 to a million. */
export const parseCount = numberWithin(/^[1-9]\d*$/, 1, 1_000_000, 'It must be a whole number from 1 to 1000000.');
/** Parses a number of at least 1. */
export const parseFactor = numberWithin(decimal, 1, Infinity, 'It must be a number of at least 1.');

/** Parses a part of an object name: a DNS subdomain (RFC 1123), short enough for a prefix. */
export function parseIdentity(text: string): string {
  if (!/^[a-z0-9]([-a-z0-9.]{0,198}[a-z0-9])?$/.test(text)) {
    throw new InvalidArgumentError(
      'It must be a name: lower-case letters, digits, - and ., at most 200, beginning and ending with a letter or digit.',
    );
  }
  return text;
}

/** Parses `LEFT,RIGHT`, for example `[[,]]`. */
export function parseDelimiters(text: string): readonly [string, string] {
  const [left = '', right = '', ...rest] = text.split(',');
  if (left === '' || right === '' || rest.length > 0) {
    const message = 'It must be the left and the right delimiter, separated by a comma, for example [[,]].';
    throw new InvalidArgumentError(message);
  }
  return [left, right];
}
