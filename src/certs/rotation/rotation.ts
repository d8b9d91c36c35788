import { parseBundle, readCertificate } from '../read-certificate.ts';
import { subjectAltNames } from '../certificate-names.ts';
import { checkCertificatePolicy } from '../certificate-policy.ts';
import type { CertificateSource } from './given-certificates.ts';
import { randomFraction } from '../random-source.ts';
import { recoverRotation } from './recover-rotation.ts';
import {
  isAccepted,
  rotationBundle,
  earliest,
  latest,
  renewalTime,
  type AnsweredRequest,
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
import type { CertifiedKey } from '../key-pair.ts';
import type { ServingPair } from '../verify-chain.ts';
import { writeRotationSecret, type SecretText } from './rotation-secret.ts';

/** What replicas are to serve, with what status and metrics say of it. */
export interface ServedPair extends ServingPair {
  /** SHA-256 of the leaf, 64 lower-case hex digits. */
  readonly fingerprint: string;
  readonly notAfter: Date;
  /** When the authority of the leaf expires. */
  readonly caNotAfter: Date;
}

/** What is to be written, in this order: `stored`, `serving`, `caBundlePem`. A failed write ends the pass; the next one resumes. */
export interface Rotation {
  /** Data of the controller's Secret. Write it with the resourceVersion that was read, so that two leaders cannot both go on. */
  readonly stored: SecretText;
  /** What replicas are to serve; `caPem` equals `caBundlePem`. Absent: leave the serving Secret as it is, the bundle must be read back first. */
  readonly serving?: ServedPair;
  /** For every webhook configuration of the revision. */
  readonly caBundlePem: string;
  /** How far the latest renewal is that a person asked for. */
  readonly request?: AnsweredRequest;
  readonly phase: RotationPhase;
  /** When the leaf or the authority is next renewed, whichever is first. */
  readonly renewAt: Date;
  /** When to call again at the latest; always after `now`. */
  readonly nextAt: Date;
  readonly changes: readonly RotationChange[];
}

/**
 * One pass of the rotation of a revision's certificates: stage an authority, publish it beside the old one, confirm (read back from every
 * configuration, and for `confirmationPeriod`), swap the leaf, retire the old authority once no leaf of it can be valid. Each pass decides from
 * what is stored and observed alone, so it may be repeated, interrupted after any write, or run by two leaders.
 *
 * `bundles` are the caBundles read back from every webhook configuration that sends admissions here, never a guess: with none, nothing waits.
 * @throws CertificatePolicyError for an impossible policy or name; nothing is changed then.
 */
export async function rotate(input: RotationInput): Promise<Rotation> {
  const { policy, names, now, random, bundles } = input;
  checkCertificatePolicy(policy);
  subjectAltNames(names);
  const recovered = recoverRotation(input, { policy, jitter: randomFraction(random), now });
  const situation = { ...recovered, bundles, policy, now };
  const changes = [...recovered.changes];

  let state = retire(recovered.state, now, changes);
  const source = sourceFor(state, input);
  const given = typeof source === 'object' ? source : undefined;
  if (given !== undefined) state = stageGiven(state, given, input, changes);
  else if (source === 'Issue') state = await stage(state, input, changes);
  state = confirm(state, input, changes);
  // While nobody can say which leaf would follow, what is staged waits.
  const isKeyless = state.staged !== undefined && state.staged.privateKeyPem === undefined;
  if (source !== 'Unavailable' && !(input.source === 'Unavailable' && isKeyless))
    state = swap(state, situation, changes);
  if (given !== undefined) state = takeGivenLeaf(state, given, input, changes);
  else if (source === 'Issue') state = await renewLeaf(state, input, changes);
  state = noteRequest(state, recovered.state, input.request, source !== 'Issue');
  state = forceRetirement(state, situation);

  const caBundlePem = rotationBundle(state);
  const leaf = chooseLeaf(state, situation);
  state = finishRequest(state, leaf);
  const serving = leaf && servedPair(leaf, caBundlePem, now);
  return {
    stored: writeRotationSecret(state),
    ...(serving && { serving }),
    caBundlePem,
    ...(state.request && { request: state.request }),
    phase: phaseOf(state, serving),
    ...deadlines(state, serving, situation),
    changes,
  };
}

/**
 * An authority of ours goes on while somebody else who should issue has nothing that could serve yet: the last good certificate must not expire
 * for that. Their own certificates cannot be renewed by us, and stay as they are.
 */
function sourceFor(state: RotationState, { source }: RotationInput): CertificateSource | 'Issue' {
  if (source === undefined) return 'Issue';
  return source === 'Unavailable' && state.authority?.privateKeyPem !== undefined ? 'Issue' : source;
}

/** The last look before anything is published: a leaf that the bundle does not verify is not served. */
function servedPair({ certificatePem, privateKeyPem }: CertifiedKey, caPem: string, now: Date): ServedPair | undefined {
  const issuer = parseBundle(caPem).find(({ pem }) => isAccepted(certificatePem, pem, now));
  if (issuer === undefined) return undefined;
  const { fingerprint, notAfter } = readCertificate(certificatePem);
  return { certificatePem, privateKeyPem, caPem, fingerprint, notAfter, caNotAfter: issuer.notAfter };
}

/** The stored leaf, unless a leaf of another authority is in use and the stored one's is not trusted everywhere yet. */
function chooseLeaf({ authority, leaf }: RotationState, situation: RotationSituation): CertifiedKey | undefined {
  const { current, now } = situation;
  if (leaf === undefined || authority === undefined) return current;
  if (current !== undefined && isAccepted(current.certificatePem, authority.certificatePem, now)) return leaf;
  const at = servableAt(authority, situation);
  return at !== undefined && at <= now ? leaf : current;
}

/** Where the rotation stands once `served` is what replicas are given. */
function phaseOf({ staged, retiring, leaf }: RotationState, served: CertifiedKey | undefined): RotationPhase {
  if (staged !== undefined) return staged.publishedAt === undefined ? 'Publishing' : 'Confirming';
  if (leaf?.certificatePem !== served?.certificatePem) return 'Confirming';
  return retiring.length > 0 ? 'Retiring' : 'Stable';
}

/** How soon to look again while something is not read back yet; events come sooner. */
const pollPeriod = 5000;

/** When the next renewal is due, and when to look again at the latest. */
export function deadlines(
  state: RotationState,
  served: CertifiedKey | undefined,
  situation: RotationSituation,
): { readonly renewAt: Date; readonly nextAt: Date } {
  const { policy, now } = situation;
  // An authority whose key somebody else has is not ours to renew.
  const own = state.authority?.privateKeyPem === undefined ? undefined : state.authority;
  const renewals = [state.leaf, state.staged === undefined ? own : undefined].map(
    (holder) => holder && renewalTime(readCertificate(holder.certificatePem).notAfter, holder.terms, policy),
  );
  // An authority is waited for until its leaf is served.
  const isServed = state.leaf?.certificatePem === served?.certificatePem;
  const waiting = [isServed ? undefined : state.authority, state.staged].map(
    (authority) => authority && (servableAt(authority, situation) ?? new Date(now.getTime() + pollPeriod)),
  );
  const unfinished = state.request?.state === 'Accepted' ? new Date(now.getTime() + pollPeriod) : undefined;
  const times = [unfinished, ...renewals, ...waiting, ...state.retiring.map(({ retireAfter }) => retireAfter)];
  const far = new Date(now.getTime() + policy.leafDuration);
  const soon = new Date(now.getTime() + 1000);
  return {
    renewAt: earliest(far, ...renewals),
    nextAt: latest(soon, earliest(far, ...times.filter((time) => time !== undefined && time > now))),
  };
}
