import { isDeepStrictEqual } from 'node:util';
import type { GenerateKeyPair } from '../key-pair.ts';
import { joinBundle } from '../read-certificate.ts';
import { checkGivenPair, type GivenCertificates, type GivenFault } from '../rotation/given-certificates.ts';
import type { IssuedCertificate, PendingRequest, RequestState, RequestTerms } from './request-state.ts';

/** The request as read from the API server. */
export interface ObservedRequest {
  readonly uid: string;
  readonly verdict: 'Waiting' | 'Approved' | 'Denied' | 'Failed';
  /** The message of the approver or signer. */
  readonly message: string;
  /** The issued certificate, PEM. */
  readonly certificatePem?: string;
}

/** The input of one pass. */
export interface RequestInput {
  readonly state: RequestState;
  /** The live request for `state.pending`; undefined if it does not exist. */
  readonly observed: ObservedRequest | undefined;
  readonly terms: RequestTerms;
  /** The trusted authorities, PEM. */
  readonly trustPem: string;
  /** The name by which the API server calls the webhook. The certificate must contain it. */
  readonly calledName: string;
  /** The source of certificates, for messages. */
  readonly origin: string;
  /** The fraction of its lifetime after which a certificate is renewed. */
  readonly renewalFraction: number;
  /** The divisor of every delay; 1 outside of tests. */
  readonly timeScale: number;
  readonly now: Date;
  readonly generateKeyPair: GenerateKeyPair;
}

/** The progress of a request that has yielded no certificate yet. */
export interface RequestProgress {
  readonly outcome: 'New' | 'Waiting' | 'Approved' | 'Denied' | 'Failed' | 'Removed' | GivenFault['reason'];
  /** The message of the approver or signer, or a description of the certificate's fault. */
  readonly message: string;
  readonly since: Date;
  /** The time of the next request, if the pending request has failed. */
  readonly retryAt?: Date;
}

/** The decision of one pass. Write `state`, which has the key, before the request. */
export interface RequestDecision {
  readonly state: RequestState;
  /** Whether to create the request for `state.pending`. An existing request is not an error. */
  readonly mustCreate: boolean;
  /** The previous pending request, which can be deleted. */
  readonly replaced?: PendingRequest;
  /** A certificate that replicas can serve now. */
  readonly given?: GivenCertificates;
  /** The progress of the pending request; undefined when no request is pending. */
  readonly progress?: RequestProgress;
  /** The latest time of the next pass. */
  readonly nextAt?: Date;
}

const firstBackOff = 10_000;
const longestBackOff = 3_600_000;

/** Returns the delay until the next request after `attempt` failed requests, in milliseconds. */
export function backOff(attempt: number, timeScale: number): number {
  return Math.min(firstBackOff * 2 ** Math.min(attempt, 30), longestBackOff) / timeScale;
}

/**
 * Runs one pass over the certificate request of a revision. Requests a certificate when none
 * exists, when the certificate cannot serve or is due for renewal, or when the terms have changed.
 * Repeats a failed request with a new key and a back-off. Uses only its input.
 */
export async function decideRequest(input: RequestInput): Promise<RequestDecision> {
  const { terms, timeScale, now, generateKeyPair } = input;
  const progress = progressOf(input);
  const state = observe(input, progress);
  const { issued, pending } = state;
  const checked = issued && check(issued, input);
  const given: Pick<RequestDecision, 'given'> = checked && 'given' in checked ? { given: checked.given } : {};
  const hasTerms = covers((pending ?? issued)?.terms, terms);
  const isNew = pending === undefined && issued === undefined;
  const due = pending === undefined ? issued && renewalOf(issued, given.given, input) : progress?.retryAt;
  if (hasTerms && !isNew && (due === undefined || due > now))
    return {
      ...{ state, ...given, mustCreate: progress?.outcome === 'New' },
      ...(progress && { progress }),
      ...(due && { nextAt: due }),
    };
  const attempt = hasTerms && pending !== undefined ? pending.attempt + 1 : 0;
  const { privateKeyPem } = await generateKeyPair(terms.keySize);
  const next: PendingRequest = { privateKeyPem, terms, attempt, since: now };
  return {
    ...{ state: { ...state, pending: next }, ...given, mustCreate: true },
    ...(pending && { replaced: pending }),
    progress: { outcome: 'New', message: '', since: now },
    nextAt: new Date(now.getTime() + backOff(attempt, timeScale)),
  };
}

/** Returns the pending request's progress; undefined if none is pending or its pair can serve. */
function progressOf({ state: { pending }, observed, ...input }: RequestInput): RequestProgress | undefined {
  if (pending === undefined) return undefined;
  const { since, uid, privateKeyPem, attempt } = pending;
  // A time in the future comes from a wrong clock.
  const retryAt = new Date(Math.min(Number(since), Number(input.now)) + backOff(attempt, input.timeScale));
  if (observed === undefined)
    return uid === undefined
      ? { outcome: 'New', message: '', since }
      : { outcome: 'Removed', message: '', since, retryAt };
  const { verdict: outcome, message, certificatePem } = observed;
  if (outcome === 'Denied' || outcome === 'Failed') return { outcome, message, since, retryAt };
  if (certificatePem === undefined) return { outcome, message, since };
  const checked = check({ certificatePem, privateKeyPem }, input);
  if ('given' in checked) return undefined;
  const [fault] = checked.faults;
  return { outcome: fault.reason, message: fault.message, since, retryAt };
}

/** Returns the state with the issued certificate or the uid of the observed request. */
function observe({ state, observed, now }: RequestInput, progress: RequestProgress | undefined): RequestState {
  const { pending } = state;
  if (pending === undefined || observed === undefined) return state;
  if (progress !== undefined) return { ...state, pending: { ...pending, uid: observed.uid } };
  const certificatePem = joinBundle([observed.certificatePem ?? '']);
  return { issued: { certificatePem, privateKeyPem: pending.privateKeyPem, terms: pending.terms, takenAt: now } };
}

/** Reports whether a request has the desired terms; additional names are allowed. */
function covers(requested: RequestTerms | undefined, desired: RequestTerms): boolean {
  if (requested === undefined) return false;
  return (
    isDeepStrictEqual({ ...requested, names: [] }, { ...desired, names: [] }) &&
    desired.names.every((name) => requested.names.includes(name))
  );
}

/** Counts from `takenAt`, since notBefore may be old. An unusable pair is due after a back-off. */
function renewalOf(
  { takenAt }: IssuedCertificate,
  given: GivenCertificates | undefined,
  { renewalFraction, timeScale, now }: Pick<RequestInput, 'renewalFraction' | 'timeScale' | 'now'>,
): Date {
  const from = Math.min(Number(takenAt), Number(now));
  const life = given === undefined ? 0 : given.chain[0].notAfter.getTime() - from;
  // A very short lifetime must not cause continuous requests.
  return new Date(from + Math.max(life * renewalFraction, backOff(0, timeScale)));
}

type Checking = Pick<RequestInput, 'trustPem' | 'calledName' | 'origin' | 'now'>;

function check(pair: { certificatePem: string; privateKeyPem: string }, input: Checking) {
  const { trustPem: caPem, calledName, origin, now } = input;
  return checkGivenPair({ ...pair, caPem }, origin, { now, names: [calledName] });
}
