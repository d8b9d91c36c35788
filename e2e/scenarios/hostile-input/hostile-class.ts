import type { Random } from '../../../scripts/template-recorder/random.ts';

/**
 * How an exchange ended for the client: the HTTP status of the answer; of an answered review also its verdict, `patched` (allowed, with a patch), `allowed` (without) or
 * `refused`; `closed`, when the connection ended without an answer. Several answers are joined by ` then `.
 */
export type Outcome = string;

/** Bytes for the webhook's port. */
export interface HostileRequest {
  readonly bytes: Buffer;
  /** `plain` speaks no TLS; `tls` when unset. */
  readonly transport?: 'plain';
  /** The client ends its side after the bytes, as one that crashes does. */
  readonly thenEnd?: true;
  /** Answers to wait for; one when unset. `all`: until the server closes the connection, so that not one answer too many goes unnoticed. */
  readonly answers?: number | 'all';
  /** The answer to HEAD has no body, whatever its Content-Length says. */
  readonly withoutBody?: true;
}

/** One way to be wrong, or absurd. */
export interface HostileClass {
  /** In lower case with dashes. */
  readonly name: string;
  /** Why the outcome is the right one. */
  readonly because: string;
  /** Every request of the class must end in one of these. */
  readonly expect: Outcome | readonly Outcome[];
  readonly make: (random: Random, target: HostileTarget) => HostileRequest;
}

/** The injector that is attacked. */
export interface HostileTarget {
  /** `/revisions/N/<hash8>/inject`. */
  readonly path: string;
  /** The host name of its Service. */
  readonly host: string;
}

/** A class of requests, what every one of them must end in, and why. */
export function hostile(
  name: string,
  expect: HostileClass['expect'],
  because: string,
  make: HostileClass['make'],
): HostileClass {
  return { name, expect, because, make };
}
