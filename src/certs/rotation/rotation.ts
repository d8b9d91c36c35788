import { pemOf, type Certificate } from '../read-certificate.ts';
import { subjectAltNames } from '../certificate-names.ts';
import { checkCertificatePolicy } from '../certificate-policy.ts';
import type { CertificateSource } from './given-certificates.ts';
import { randomFraction } from '../random-source.ts';
import { recoverRotation } from './recover-rotation.ts';
import {
  isAccepted,
  isSameChain,
  rotationBundle,
  earliestTime,
  latest,
  renewalTime,
  type AnsweredRequest,
  type CertifiedLeaf,
  type RotationChange,
  type RotationPhase,
  type RotationState,
} from './rotation-state.ts';
import { servableAt, type RotationSituation } from './rotation-confirmation.ts';
import { finishRequest, forceRetirement, noteRequest } from './rotation-request.ts';
import {
  stageGiven,
  takeGivenLeaf,
  type RotationInput,
  confirm,
  renewLeaf,
  retire,
  stage,
  swap,
} from './rotation-steps.ts';
import type { ServingPair } from '../verify-chain.ts';
import { writeRotationSecret, type SecretText } from './rotation-secret.ts';

/** The pair that replicas serve, with properties for the status and metrics. */
export interface ServedPair extends ServingPair {
  /** The SHA-256 of the leaf, as 64 lower-case hex digits. */
  readonly fingerprint: string;
  readonly notAfter: Date;
  /** The notAfter of the leaf's authority. */
  readonly caNotAfter: Date;
}

/**
 * The result of a pass. Write `stored`, `serving` and `caBundlePem` in this order, and stop after a
 * failed write; the next pass resumes.
 */
export interface Rotation {
  /** The data of the controller's Secret. Write it only to the version that was read. */
  readonly stored: SecretText;
  /** The pair for replicas, where `caPem` is `caBundlePem`. If absent, keep the serving Secret. */
  readonly serving?: ServedPair;
  /** The CA bundle for every webhook configuration of the revision. */
  readonly caBundlePem: string;
  /** The state of the latest renewal that a user requested. */
  readonly request?: AnsweredRequest;
  readonly phase: RotationPhase;
  /** The time of the next renewal, of the leaf or the authority. */
  readonly renewAt: Date;
  /** The latest time of the next pass; always after `now`. */
  readonly nextAt: Date;
  readonly changes: readonly RotationChange[];
}

/**
 * Runs one pass of the rotation of a revision's certificates: stage an authority, publish it beside
 * the old authority, confirm (every webhook has had both for `confirmationPeriod`), swap the leaf,
 * retire the old authority once all its leaves have expired. A pass uses only its input, so it may
 * be repeated, interrupted after any write, or run by two leaders. `bundles` are the live caBundles
 * of all webhook configurations that call the replicas; if there are none, no phase waits.
 * @throws CertificatePolicyError for an invalid policy or name, before any change
 */
export async function rotate(input: RotationInput): Promise<Rotation> {
  const { policy, names, now, random, bundles } = input;
  checkCertificatePolicy(policy);
  subjectAltNames(names);
  const recovered = recoverRotation(input, { policy, jitter: randomFraction(random), now });
  const situation = { ...recovered, bundles, policy, now };

  let pass = retire({ ...recovered.state, changes: recovered.changes }, now);
  const source = sourceFor(pass, input);
  const given = typeof source === 'object' ? source : undefined;
  if (given !== undefined) pass = stageGiven(pass, given, input);
  else if (source === 'Issue') pass = await stage(pass, input);
  pass = confirm(pass, input);
  // The staged authority of another issuer waits while that issuer provides no leaf.
  const isKeyless = pass.staged !== undefined && pass.staged.privateKeyPem === undefined;
  if (source !== 'Unavailable' && !(input.source === 'Unavailable' && isKeyless)) pass = swap(pass, situation);
  if (given !== undefined) pass = takeGivenLeaf(pass, given, input);
  else if (source === 'Issue') pass = await renewLeaf(pass, input);
  const { changes, ...rest } = pass;
  let state = noteRequest(rest, recovered.state, input.request, source !== 'Issue');
  state = forceRetirement(state, situation);

  const bundle = rotationBundle(state);
  const leaf = chooseLeaf(state, situation);
  state = finishRequest(state, leaf);
  const serving = leaf && servedPair(leaf, bundle, now);
  const served = serving && leaf;
  return {
    stored: writeRotationSecret(state),
    ...(serving && { serving }),
    caBundlePem: pemOf(bundle),
    ...(state.request && { request: state.request }),
    phase: phaseOf(state, served),
    ...deadlines(state, served, situation),
    changes,
  };
}

/**
 * Keeps using our own authority while the other issuer has no usable pair, so that the served
 * certificate does not expire. Certificates of the other issuer stay unchanged, because we cannot
 * renew them.
 */
function sourceFor(state: RotationState, { source }: RotationInput): CertificateSource | 'Issue' {
  if (source === undefined) return 'Issue';
  return source === 'Unavailable' && state.authority?.privateKeyPem !== undefined ? 'Issue' : source;
}

/** Returns the pair to serve; undefined if the bundle does not verify the leaf. */
function servedPair(
  { chain, privateKeyPem }: CertifiedLeaf,
  bundle: readonly Certificate[],
  now: Date,
): ServedPair | undefined {
  const issuer = bundle.find((each) => isAccepted(chain, [each], now));
  if (issuer === undefined) return undefined;
  const [{ fingerprint, notAfter }] = chain;
  const [certificatePem, caPem] = [pemOf(chain), pemOf(bundle)];
  return { certificatePem, privateKeyPem, caPem, fingerprint, notAfter, caNotAfter: issuer.notAfter };
}

/** Returns the stored leaf once replicas may serve it, and until then the leaf in use. */
function chooseLeaf({ authority, leaf }: RotationState, situation: RotationSituation): CertifiedLeaf | undefined {
  const { current, now } = situation;
  if (leaf === undefined || authority === undefined) return current;
  if (current !== undefined && isAccepted(current.chain, authority.chain, now)) return leaf;
  const at = servableAt(authority, situation);
  return at !== undefined && at <= now ? leaf : current;
}

/** Returns the phase of the rotation when replicas get `served`. */
function phaseOf({ staged, retiring, leaf }: RotationState, served: CertifiedLeaf | undefined): RotationPhase {
  if (staged !== undefined) return staged.publishedAt === undefined ? 'Publishing' : 'Confirming';
  if (!isSameChain(leaf, served)) return 'Confirming';
  return retiring.length > 0 ? 'Retiring' : 'Stable';
}

/** The interval, in milliseconds, of reads of an unconfirmed bundle if no watch event arrives. */
const pollPeriod = 5000;

/** Returns the time of the next renewal, and the latest time of the next pass. */
export function deadlines(
  state: RotationState,
  served: CertifiedLeaf | undefined,
  situation: RotationSituation,
): { readonly renewAt: Date; readonly nextAt: Date } {
  const { policy, now } = situation;
  // Only the issuer that has an authority's key can renew the authority.
  const own = state.authority?.privateKeyPem === undefined ? undefined : state.authority;
  const renewals = [state.leaf, state.staged === undefined ? own : undefined].map(
    (holder) => holder && renewalTime(holder.chain[0].notAfter, holder.terms, policy),
  );
  // A pass waits for an authority until replicas get its leaf.
  const isServed = isSameChain(state.leaf, served);
  const waiting = [isServed ? undefined : state.authority, state.staged].map(
    (authority) => authority && (servableAt(authority, situation) ?? new Date(now.getTime() + pollPeriod)),
  );
  const unfinished = state.request?.state === 'Accepted' ? new Date(now.getTime() + pollPeriod) : undefined;
  const times = [unfinished, ...renewals, ...waiting, ...state.retiring.map(({ retireAfter }) => retireAfter)];
  const horizon = new Date(now.getTime() + policy.leafDuration);
  const earliestPass = new Date(now.getTime() + 1000);
  return {
    renewAt: earliestTime(horizon, ...renewals),
    nextAt: latest(earliestPass, earliestTime(horizon, ...times.filter((time) => time !== undefined && time > now))),
  };
}
