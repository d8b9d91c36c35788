import { isDeepStrictEqual } from 'node:util';
import type { GenerateKeyPair } from '../key-pair.ts';
import { joinBundle, readCertificate } from '../read-certificate.ts';
import { checkGivenPair, type GivenCertificates, type GivenFault } from '../rotation/given-certificates.ts';
import type { IssuedCertificate, PendingRequest, RequestState, RequestTerms } from './request-state.ts';

/** The request as the API server has it. */
export interface ObservedRequest {
  readonly uid: string;
  readonly verdict: 'Waiting' | 'Approved' | 'Denied' | 'Failed';
  /** What the approver or signer says of it. */
  readonly message: string;
  /** What the signer has issued, PEM. */
  readonly certificatePem?: string;
}

/** What a pass looks at. */
export interface RequestInput {
  readonly state: RequestState;
  /** The request of `state.pending`; undefined when it is not there. */
  readonly observed: ObservedRequest | undefined;
  readonly terms: RequestTerms;
  /** The authorities that are trusted, PEM. */
  readonly trustPem: string;
  /** The name by which the API server calls, which a certificate must have. */
  readonly calledName: string;
  /** Where certificates come from, for messages. */
  readonly origin: string;
  /** The share of its life after which a certificate is asked for again. */
  readonly renewalFraction: number;
  /** What every wait is divided by: 1, but in tests. */
  readonly timeScale: number;
  readonly now: Date;
  readonly generateKeyPair: GenerateKeyPair;
}

/** How a request stands that has brought no certificate yet. */
export interface RequestProgress {
  readonly outcome: 'New' | 'Waiting' | 'Approved' | 'Denied' | 'Failed' | 'Removed' | GivenFault['reason'];
  /** What the approver or signer said, or what is wrong with its certificate. */
  readonly message: string;
  readonly since: Date;
  /** When another one is made, if this one has come to nothing. */
  readonly retryAt?: Date;
}

/** What a pass decides. Write `state` before the request is made: its key must not be lost. */
export interface RequestDecision {
  readonly state: RequestState;
  /** The request of `state.pending` has to be made; that it exists already is as good. */
  readonly isToBeMade: boolean;
  /** The pending request that another one took the place of: nobody needs it. */
  readonly replaced?: PendingRequest;
  /** A certificate that can serve now. */
  readonly given?: GivenCertificates;
  /** Undefined when nothing is asked for. */
  readonly progress?: RequestProgress;
  /** When to decide again at the latest. */
  readonly nextAt?: Date;
}

const firstBackOff = 10_000;
const longestBackOff = 3_600_000;

/** How long after a request another one is made in its place, in milliseconds. @param attempt how many came to nothing before it */
export function backOff(attempt: number, timeScale: number): number {
  return Math.min(firstBackOff * 2 ** Math.min(attempt, 30), longestBackOff) / timeScale;
}

/**
 * One pass over the request of a revision: a certificate is asked for when there is none, when the one that there is cannot serve or is due, or when it was
 * asked for with other terms; a request that came to nothing is made again, with another key and with back-off. Decides from what is stored and seen alone.
 */
export async function decideRequest(input: RequestInput): Promise<RequestDecision> {
  const { terms, timeScale, now, generateKeyPair } = input;
  const progress = progressOf(input);
  const state = noted(input, progress);
  const { issued, pending } = state;
  const checked = issued && check(issued, input);
  const given = checked && 'given' in checked ? { given: checked.given } : {};
  const isWanted = covers((pending ?? issued)?.terms, terms);
  const isNew = pending === undefined && issued === undefined;
  const due = pending === undefined ? issued && renewalOf(issued, 'given' in given, input) : progress?.retryAt;
  if (isWanted && !isNew && (due === undefined || due > now))
    return {
      ...{ state, ...given, isToBeMade: progress?.outcome === 'New' },
      ...(progress && { progress }),
      ...(due && { nextAt: due }),
    };
  const attempt = isWanted && pending !== undefined ? pending.attempt + 1 : 0;
  const { privateKeyPem } = await generateKeyPair(terms.keySize);
  const next: PendingRequest = { privateKeyPem, terms, attempt, since: now };
  return {
    ...{ state: { ...state, pending: next }, ...given, isToBeMade: true },
    ...(pending && { replaced: pending }),
    progress: { outcome: 'New', message: '', since: now },
    nextAt: new Date(now.getTime() + backOff(attempt, timeScale)),
  };
}

/** How the pending request stands; undefined when there is none, or when it has brought a certificate that can serve. */
function progressOf({ state: { pending }, observed, ...input }: RequestInput): RequestProgress | undefined {
  if (pending === undefined) return undefined;
  const { since, uid, privateKeyPem, attempt } = pending;
  // A time in the future is of a clock that was wrong.
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

/** The state with what was seen: the certificate that the pending request has brought, or that the request is there. */
function noted({ state, observed, now }: RequestInput, progress: RequestProgress | undefined): RequestState {
  const { pending } = state;
  if (pending === undefined || observed === undefined) return state;
  if (progress !== undefined) return { ...state, pending: { ...pending, uid: observed.uid } };
  const certificatePem = joinBundle([observed.certificatePem ?? '']);
  return { issued: { certificatePem, privateKeyPem: pending.privateKeyPem, terms: pending.terms, takenAt: now } };
}

/** Whether what was asked for is what is wanted; more names than that are as good. */
function covers(asked: RequestTerms | undefined, wanted: RequestTerms): boolean {
  if (asked === undefined) return false;
  return (
    isDeepStrictEqual({ ...asked, names: [] }, { ...wanted, names: [] }) &&
    wanted.names.every((name) => asked.names.includes(name))
  );
}

/** From when we had it: of a certificate that began long before, most of the life would be over when it comes. One that cannot serve is due. */
function renewalOf(
  { certificatePem, takenAt }: IssuedCertificate,
  canServe: boolean,
  { renewalFraction, timeScale, now }: Pick<RequestInput, 'renewalFraction' | 'timeScale' | 'now'>,
): Date {
  const from = Math.min(Number(takenAt), Number(now));
  const life = canServe ? readCertificate(certificatePem).notAfter.getTime() - from : 0;
  // One that hardly lives must not make us ask all the time.
  return new Date(from + Math.max(life * renewalFraction, backOff(0, timeScale)));
}

type Checking = Pick<RequestInput, 'trustPem' | 'calledName' | 'origin' | 'now'>;

function check(pair: { certificatePem: string; privateKeyPem: string }, input: Checking) {
  const { trustPem: caPem, calledName, origin, now } = input;
  return checkGivenPair({ ...pair, caPem }, origin, { now, names: [calledName] });
}
