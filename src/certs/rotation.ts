import { issueAuthority } from './authority.ts';
import { subjectAltNames } from './certificate-names.ts';
import type { CertificateNames } from './certificate-names.ts';
import { checkCertificatePolicy } from './certificate-policy.ts';
import type { CertificatePolicy } from './certificate-policy.ts';
import type { GenerateKeyPair } from './key-pair.ts';
import { randomFraction } from './random-source.ts';
import type { RandomBytes } from './random-source.ts';
import { readCertificate } from './read-certificate.ts';
import { recoverRotation } from './recover-rotation.ts';
import type { ObservedCertificates, RecoveredRotation } from './recover-rotation.ts';
import { isAccepted, rotationBundle } from './rotation-bundle.ts';
import { notePublication, servableAt } from './rotation-confirmation.ts';
import { authorityDue, leafDue } from './rotation-due.ts';
import { earliest, latest, renewalTime } from './rotation-schedule.ts';
import type {
  RetiringAuthority,
  RotationChange,
  RotationPhase,
  RotationState,
  StoredAuthority,
} from './rotation-state.ts';
import { issueServingCertificate } from './serving-certificate.ts';
import type { Leaf } from './serving-certificate.ts';
import { verifyServingPair } from './verify-chain.ts';
import type { ServingPair } from './verify-chain.ts';
import { writeRotationSecret } from './write-rotation-secret.ts';
import type { SecretText } from './write-rotation-secret.ts';

/** What a pass of the state machine looks at. */
export interface RotationInput extends ObservedCertificates {
  readonly policy: CertificatePolicy;
  readonly names: CertificateNames;
  readonly now: Date;
  readonly random: RandomBytes;
  readonly generateKeyPair: GenerateKeyPair;
  /** Renewals asked for by a person; each starts the same overlapped rotation as a renewal by time. */
  readonly requested?: readonly ('Leaf' | 'Authority')[];
}

/** What is to be written, in this order: `stored`, `serving`, `caBundlePem`. A failed write ends the pass; the next one resumes. */
export interface Rotation {
  /** Data of the controller's Secret. Write it with the resourceVersion that was read, so that two leaders cannot both go on. */
  readonly stored: SecretText;
  /** What replicas are to serve; `caPem` equals `caBundlePem`. Absent: leave the serving Secret as it is, the bundle must be read back first. */
  readonly serving?: ServingPair;
  /** For every webhook configuration of the revision. */
  readonly caBundlePem: string;
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
  state = await stage(state, input, changes);
  state = confirm(state, input, changes);
  state = swap(state, situation, changes);
  state = await renewLeaf(state, input, changes);

  const caBundlePem = rotationBundle(state);
  const leaf = chooseLeaf(state, situation);
  if (leaf !== undefined && !isAccepted(leaf, caBundlePem, now)) {
    throw new Error('the chosen serving certificate does not verify against the bundle; nothing is published');
  }
  return {
    stored: writeRotationSecret(state),
    ...(leaf && {
      serving: { certificatePem: leaf.certificatePem, privateKeyPem: leaf.privateKeyPem, caPem: caBundlePem },
    }),
    caBundlePem,
    phase: phaseOf(state, leaf),
    ...deadlines(state, situation),
    changes,
  };
}

type Situation = RecoveredRotation & Pick<RotationInput, 'bundles' | 'policy' | 'now'>;

function retire(state: RotationState, now: Date, changes: RotationChange[]): RotationState {
  const isDue = ({ retireAfter }: RetiringAuthority): boolean => retireAfter <= now;
  for (const { certificatePem, retireAfter } of state.retiring.filter(isDue)) {
    const { fingerprint } = readCertificate(certificatePem);
    changes.push({
      kind: 'Retired',
      subject: 'Authority',
      message: `${fingerprint.slice(0, 8)}: its last leaf expired at ${retireAfter.toISOString()}`,
    });
  }
  return { ...state, retiring: state.retiring.filter((authority) => !isDue(authority)) };
}

async function stage(state: RotationState, input: RotationInput, changes: RotationChange[]): Promise<RotationState> {
  const { policy, names, now, random, bundles } = input;
  const requested = input.requested?.includes('Authority') === true ? 'asked for' : undefined;
  const reason = authorityDue(state.authority, policy, now) ?? requested;
  // A staged authority that waited for so long that it is due itself has signed nothing and can go.
  const isFresh = state.staged !== undefined && authorityDue(state.staged, policy, now) === undefined;
  if (reason === undefined || isFresh) {
    return state;
  }
  const keys = await input.generateKeyPair(policy.keySize);
  const issued = issueAuthority(names.service, keys, { now, duration: policy.caDuration, random });
  const terms = { duration: policy.caDuration, keySize: policy.keySize, jitter: randomFraction(random) };
  changes.push({ kind: bundles.length === 0 ? 'Issued' : 'Staged', subject: 'Authority', message: reason });
  return { ...state, staged: { ...issued, terms } };
}

function confirm(state: RotationState, { bundles, now }: RotationInput, changes: RotationChange[]): RotationState {
  const noted = (authority: StoredAuthority): StoredAuthority => {
    const found = notePublication(authority, bundles, now);
    changes.push(...found.changes);
    return found.authority;
  };
  return {
    ...state,
    ...(state.authority && { authority: noted(state.authority) }),
    ...(state.staged && { staged: noted(state.staged) }),
  };
}

function swap(state: RotationState, situation: Situation, changes: RotationChange[]): RotationState {
  const { staged, authority, ...rest } = state;
  const at = staged && servableAt(staged, situation);
  if (staged === undefined || at === undefined || at > situation.now) {
    return state;
  }
  if (authority === undefined) {
    return { ...rest, authority: staged };
  }
  changes.push({
    kind: 'Swapped',
    subject: 'Authority',
    message: 'the new authority is trusted everywhere and signs from now on',
  });
  const retireAfter = latest(authority.lastLeafNotAfter ?? situation.now, situation.now);
  return {
    ...rest,
    authority: staged,
    retiring: [...state.retiring, { certificatePem: authority.certificatePem, retireAfter }],
  };
}

async function renewLeaf(
  state: RotationState,
  input: RotationInput,
  changes: RotationChange[],
): Promise<RotationState> {
  const { authority } = state;
  const { policy, names, now, random } = input;
  if (authority === undefined) {
    return state;
  }
  const requested = input.requested?.includes('Leaf') === true ? 'asked for' : undefined;
  const reason = leafDue(state.leaf, authority, { policy, names, now }) ?? requested;
  if (reason === undefined) {
    return state;
  }
  const keys = await input.generateKeyPair(policy.keySize);
  const leaf = issueServingCertificate(authority, names, keys, { now, duration: policy.leafDuration, random });
  const { notAfter } = readCertificate(leaf.certificatePem);
  const { dns, ip } = subjectAltNames(names);
  const [fault] = verifyServingPair({ ...leaf, caPem: authority.certificatePem }, { now, names: [...dns, ...ip] });
  if (fault !== undefined) {
    throw new Error(`the serving certificate just issued does not verify (${fault.message}); nothing is published`);
  }
  changes.push({ kind: 'Issued', subject: 'ServingCertificate', message: reason });
  const terms = { duration: policy.leafDuration, keySize: policy.keySize, jitter: randomFraction(random) };
  return {
    ...state,
    authority: { ...authority, lastLeafNotAfter: latest(notAfter, authority.lastLeafNotAfter) },
    leaf: { ...leaf, terms },
  };
}

/** The stored leaf, unless a leaf of another authority is in use and the stored one's is not trusted everywhere yet. */
function chooseLeaf({ authority, leaf }: RotationState, situation: Situation): Leaf | undefined {
  const { current, now } = situation;
  if (leaf === undefined || authority === undefined) {
    return current;
  }
  if (current !== undefined && isAccepted(current, authority.certificatePem, now)) {
    return leaf;
  }
  const at = servableAt(authority, situation);
  return at !== undefined && at <= now ? leaf : current;
}

function phaseOf({ staged, retiring, leaf }: RotationState, served: Leaf | undefined): RotationPhase {
  if (staged !== undefined) {
    return staged.publishedAt === undefined ? 'Publishing' : 'Confirming';
  }
  if (leaf?.certificatePem !== served?.certificatePem) {
    return 'Confirming';
  }
  return retiring.length > 0 ? 'Retiring' : 'Stable';
}

/** How soon to look again while something is not read back yet; events come sooner. */
const pollPeriod = 5000;

function deadlines(state: RotationState, situation: Situation): Pick<Rotation, 'renewAt' | 'nextAt'> {
  const { policy, now } = situation;
  const renewals = [state.leaf, state.staged === undefined ? state.authority : undefined].map(
    (holder) => holder && renewalTime(readCertificate(holder.certificatePem), policy, holder.terms.jitter),
  );
  const waiting = [state.authority, state.staged].flatMap((authority) =>
    authority === undefined ? [] : [servableAt(authority, situation) ?? new Date(now.getTime() + pollPeriod)],
  );
  const times = [...renewals, ...waiting, ...state.retiring.map(({ retireAfter }) => retireAfter)];
  const far = new Date(now.getTime() + policy.leafDuration);
  const soon = new Date(now.getTime() + 1000);
  return {
    renewAt: earliest(far, ...renewals),
    nextAt: latest(soon, earliest(far, ...times.filter((time) => time !== undefined && time > now))),
  };
}
