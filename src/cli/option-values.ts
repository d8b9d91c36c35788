import { InvalidArgumentError } from 'commander';

/** A port; 0 means any free one. */
export function parsePort(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65_535) {
    throw new InvalidArgumentError('It must be a port: a number from 0 (any free one) to 65535.');
  }
  return value;
}

/** What can be part of an object's name: a DNS subdomain (RFC 1123) that leaves room for a prefix. */
export function parseIdentity(text: string): string {
  if (!/^[a-z0-9]([-a-z0-9.]{0,198}[a-z0-9])?$/.test(text)) {
    throw new InvalidArgumentError(
      'It must be a name: lower-case letters, digits, - and ., at most 200, beginning and ending with a letter or digit.',
    );
  }
  return text;
}

/** Seconds, up to an hour. */
export function parseSeconds(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value > 3600) {
    throw new InvalidArgumentError('It must be a number of seconds from 0 to 3600.');
  }
  return value;
}

/** A whole number from 1 to a million. */
export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text) || Number(text) > 1_000_000) {
    throw new InvalidArgumentError('It must be a whole number from 1 to 1000000.');
  }
  return Number(text);
}

/** A number of at least 1. */
export function parseFactor(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value < 1) {
    throw new InvalidArgumentError('It must be a number of at least 1.');
  }
  return value;
}

/** `LEFT,RIGHT`, for example `[[,]]`. */
export function parseDelimiters(text: string): readonly [string, string] {
  const [left = '', right = '', ...rest] = text.split(',');
  if (left === '' || right === '' || rest.length > 0) {
    throw new InvalidArgumentError(
      'It must be the left and the right delimiter with a comma between, for example [[,]].',
    );
  }
  return [left, right];
}
