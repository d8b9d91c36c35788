import { issueAuthority, issueServingCertificate } from '../issue-certificate.ts';
import { subjectAltNames, type CertificateNames } from '../certificate-names.ts';
import { durationText, type CertificatePolicy } from '../certificate-policy.ts';
import type { GenerateKeyPair } from '../key-pair.ts';
import { randomFraction, type RandomBytes } from '../random-source.ts';
import { pemOf, readChain, shortName, type Certificate } from '../read-certificate.ts';
import { notePublication, servableAt, type RotationSituation } from './rotation-confirmation.ts';
import { toRenew, type RenewalRequest } from './rotation-request.ts';
import type { ObservedCertificates } from './recover-rotation.ts';
import { isAuthorityOf, type CertificateSource, type GivenCertificates } from './given-certificates.ts';
import {
  isSameChain,
  wasAccepted,
  latest,
  renewalTime,
  changeOf,
  noted,
  type IssueTerms,
  type RetiringAuthority,
  type RotationChange,
  type RotationPass,
  type StoredAuthority,
  type StoredLeaf,
} from './rotation-state.ts';
import { leafValidity } from '../sign-certificate.ts';
import { coversName, verifyServingPair } from '../verify-chain.ts';

/** The input of one pass of the state machine. */
export interface RotationInput extends ObservedCertificates {
  readonly policy: CertificatePolicy;
  readonly names: CertificateNames;
  /** Another issuer's certificates. If absent, the operator issues certificates. */
  readonly source?: CertificateSource;
  readonly now: Date;
  readonly random: RandomBytes;
  readonly generateKeyPair: GenerateKeyPair;
  /** The latest renewal that a user requested. Every pass gets it, but only one pass renews. */
  readonly request?: RenewalRequest;
}

/** Drops the authorities whose leaves have all expired. */
export function retire(pass: RotationPass, now: Date): RotationPass {
  const isDue = ({ retireAfter }: RetiringAuthority): boolean => retireAfter <= now;
  let next: RotationPass = { ...pass, retiring: pass.retiring.filter((authority) => !isDue(authority)) };
  for (const { chain, retireAfter } of pass.retiring.filter(isDue)) {
    const named = `authority ${shortName(chain[0])}`;
    const message = `${named} is removed from the bundle: its last leaf expired at ${retireAfter.toISOString()}`;
    next = noted(next, changeOf('Retired', 'Authority', message));
  }
  return next;
}

/** Issues the next authority when the current one is due. The next authority signs nothing yet. */
export async function stage(pass: RotationPass, input: RotationInput): Promise<RotationPass> {
  const { policy, names, now, random, bundles } = input;
  const requested = toRenew(pass, input.request) === 'Authority' ? 'requested' : undefined;
  const reason = authorityDue(pass.authority, policy, now) ?? requested;
  // A thief may also have the staged key, because the same Secret holds it.
  const isForced = requested !== undefined && input.request?.target === 'authority-force';
  // A staged authority that has become due during a long wait is replaced.
  const isFresh = pass.staged !== undefined && !isForced && authorityDue(pass.staged, policy, now) === undefined;
  const { staged, ...rest } = pass;
  const retiring = [...pass.retiring, ...abandoned(staged)];
  // The staged authority of another issuer stays while that issuer is configured.
  if (reason === undefined && staged !== undefined && staged.privateKeyPem === undefined)
    return input.source === undefined ? { ...rest, retiring } : pass;
  if (reason === undefined || isFresh) return pass;
  const keys = await input.generateKeyPair(policy.keySize);
  const { certificatePem, privateKeyPem } = issueAuthority(names.service, keys, {
    now,
    duration: policy.caDuration,
    random,
  });
  const terms = { issuedAt: now, duration: policy.caDuration, keySize: policy.keySize, jitter: randomFraction(random) };
  const chain = readChain(certificatePem);
  return noted({ ...rest, staged: { chain, privateKeyPem, terms }, retiring }, staging(chain[0], reason, bundles));
}

/** Reports a new authority: as issued if no webhook configuration exists, else as staged. */
function staging(authority: Certificate, reason: string, bundles: RotationInput['bundles']): RotationChange {
  const kind = bundles.length === 0 ? 'Issued' : 'Staged';
  return changeOf(kind, 'Authority', `authority ${shortName(authority)}: ${reason}`);
}

/** Retires a dropped staged authority that signed leaves (possible after a backup is restored). */
function abandoned(staged: StoredAuthority | undefined): RetiringAuthority[] {
  const { chain, lastLeafNotAfter } = staged ?? {};
  return chain === undefined || lastLeafNotAfter === undefined ? [] : [{ chain, retireAfter: lastLeafNotAfter }];
}

/** Records which authorities every webhook configuration contains. */
export function confirm(pass: RotationPass, { bundles, now }: RotationInput): RotationPass {
  let next = pass;
  for (const role of ['authority', 'staged'] as const) {
    const authority = pass[role];
    if (authority === undefined) continue;
    const { recorded, change } = notePublication(authority, bundles, now);
    next = noted({ ...next, [role]: recorded }, change);
  }
  return next;
}

/** Promotes the staged authority once its leaves may be served; retires the old authority. */
export function swap(pass: RotationPass, situation: RotationSituation): RotationPass {
  const { staged, authority, ...rest } = pass;
  const { bundles, now } = situation;
  const at = staged && servableAt(staged, situation);
  if (staged === undefined || at === undefined || at > now) return pass;
  const message = `authority ${shortName(staged.chain[0])} now signs serving certificates`;
  const confirmedAfter = now.getTime() - staged.terms.issuedAt.getTime();
  const change = { ...changeOf('Swapped', 'Authority', message), confirmedAfter };
  const next = noted({ ...rest, authority: staged }, bundles.length > 0 ? change : undefined);
  if (authority === undefined) return next;
  const retireAfter = latest(authority.lastLeafNotAfter ?? now, now);
  return { ...next, retiring: [...pass.retiring, { chain: authority.chain, retireAfter }] };
}

/** Issues a leaf when the current leaf is due, and verifies it before publication. */
export async function renewLeaf(pass: RotationPass, input: RotationInput): Promise<RotationPass> {
  const { authority } = pass;
  const { policy, names, now, random } = input;
  if (authority?.privateKeyPem === undefined) return pass;
  const signer = { certificatePem: pemOf(authority.chain), privateKeyPem: authority.privateKeyPem };
  const requested = toRenew(pass, input.request) === 'Leaf';
  const reason = leafDue(pass.leaf, authority, input, requested);
  if (reason === undefined) return pass;
  const keys = await input.generateKeyPair(policy.keySize);
  const { leafDuration: duration } = policy;
  const issued = issueServingCertificate(signer, names, keys, { now, duration, random });
  const leaf = { chain: readChain(issued.certificatePem), privateKeyPem: issued.privateKeyPem };
  const { dns, ip } = subjectAltNames(names);
  const [fault] = verifyServingPair({ ...leaf, authorities: authority.chain }, { now, names: [...dns, ...ip] });
  if (fault !== undefined)
    throw new Error(`the newly issued serving certificate does not verify (${fault.message}); nothing is published`);
  const terms = { issuedAt: now, duration, keySize: policy.keySize, jitter: randomFraction(random) };
  return withLeaf(pass, authority, { ...leaf, terms }, reason);
}

/** Returns the pass with a new leaf of this authority. */
function withLeaf(pass: RotationPass, authority: StoredAuthority, leaf: StoredLeaf, reason: string): RotationPass {
  const message = `serving certificate ${shortName(leaf.chain[0])}: ${reason}`;
  const lastLeafNotAfter = latest(leaf.chain[0].notAfter, authority.lastLeafNotAfter);
  const next = { ...pass, authority: { ...authority, lastLeafNotAfter }, leaf };
  return noted(next, changeOf('Issued', 'ServingCertificate', message));
}

/** Stages the authority of a provided pair if it is new; drops any other staged authority. */
export function stageGiven(pass: RotationPass, given: GivenCertificates, input: RotationInput): RotationPass {
  const { staged, ...rest } = pass;
  if (isAuthorityOf(staged, given)) return pass;
  const retiring = [...pass.retiring, ...abandoned(staged)];
  if (isAuthorityOf(pass.authority, given)) return { ...rest, retiring };
  const { authority, origin } = given;
  const { policy, now, bundles } = input;
  const duration = authority.notAfter.getTime() - now.getTime();
  const terms = { issuedAt: now, duration, keySize: policy.keySize, jitter: 0 };
  const next = { ...rest, staged: { chain: [authority] as const, terms }, retiring };
  return noted(next, staging(authority, `provided by ${origin}`, bundles));
}

/** Takes over the provided leaf once its authority is the signing authority. */
export function takeGivenLeaf(pass: RotationPass, given: GivenCertificates, { policy }: RotationInput): RotationPass {
  const { authority, leaf } = pass;
  const { chain, privateKeyPem, origin } = given;
  const isTaken = isSameChain(leaf, given) && leaf?.privateKeyPem === privateKeyPem;
  if (authority === undefined || isTaken || !isAuthorityOf(authority, given)) return pass;
  const [{ notBefore, notAfter }] = chain;
  // The owner bases the renewal time on the whole lifetime, not on the remaining lifetime.
  const duration = notAfter.getTime() - notBefore.getTime();
  const terms = { issuedAt: notBefore, duration, keySize: policy.keySize, jitter: 0 };
  return withLeaf(pass, authority, { chain, privateKeyPem, terms }, `provided by ${origin}`);
}

/** Returns why a new authority is needed; undefined while the current authority suffices. */
function authorityDue(
  authority: StoredAuthority | undefined,
  policy: CertificatePolicy,
  now: Date,
): string | undefined {
  if (authority?.privateKeyPem === undefined) return 'no authority with a key is stored';
  return changedTerms(authority.terms, policy.caDuration, policy.keySize) ?? timeDue(authority, policy, now);
}

/** Returns why a new leaf is needed; undefined if `authority` would issue no better leaf. */
function leafDue(
  leaf: StoredLeaf | undefined,
  authority: StoredAuthority,
  { policy, names, now }: RotationInput,
  isRequested: boolean,
): string | undefined {
  const { notAfter: until } = leafValidity(now, policy.leafDuration, authority.chain[0]);
  if (until <= now) return undefined;
  if (leaf === undefined) return 'no serving certificate is stored';
  const [facts] = leaf.chain;
  if (!wasAccepted(leaf.chain, authority.chain)) return 'the current authority did not sign the serving certificate';
  if (isRequested) return 'requested';
  const { dns, ip } = subjectAltNames(names);
  const missing = [...dns, ...ip].filter((name) => !coversName(facts.x509, name));
  if (missing.length > 0) return `the serving certificate lacks ${missing.join(', ')}`;
  const changed = changedTerms(leaf.terms, policy.leafDuration, policy.keySize);
  if (changed !== undefined) return changed;
  // An authority that expires soon issues ever shorter leaves, so renewals would never stop.
  return until > facts.notAfter ? timeDue(leaf, policy, now) : undefined;
}

function timeDue(
  { chain: [facts], terms }: StoredAuthority | StoredLeaf,
  policy: CertificatePolicy,
  now: Date,
): string | undefined {
  if (facts.notBefore > now)
    return `valid only from ${facts.notBefore.toISOString()}: a clock was wrong when it was issued`;
  const renewAt = renewalTime(facts.notAfter, terms, policy);
  return renewAt <= now
    ? `due for renewal since ${renewAt.toISOString()}, expires ${facts.notAfter.toISOString()}`
    : undefined;
}

function changedTerms(terms: IssueTerms, duration: number, keySize: number): string | undefined {
  if (terms.duration !== duration)
    return `issued for ${durationText(terms.duration)}, now ${durationText(duration)} is required`;
  return terms.keySize === keySize ? undefined : `issued with ${terms.keySize} bits, now ${keySize} are required`;
}
