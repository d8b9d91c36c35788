import { z } from 'zod';
import { parseBundle, pemOf, type CertificateChain } from '../read-certificate.ts';
import { keyMatches } from '../verify-chain.ts';
import {
  answeredRequest,
  issueTerms,
  time,
  type IssueTerms,
  type RetiringAuthority,
  type RotationState,
  type StoredAuthority,
} from './rotation-state.ts';

const fingerprint = z.string();

const authority = z.object({
  fingerprint,
  terms: issueTerms,
  /** Set if another issuer has the key. */
  given: z.literal(true).exactOptional(),
  publishedAt: time.exactOptional(),
  lastLeafNotAfter: time.exactOptional(),
});

/** `rotation.json`: times, and fingerprints that reveal a lost or replaced part. */
const record = z.object({
  version: z.literal(1),
  authority: authority.exactOptional(),
  staged: authority.exactOptional(),
  leaf: z.object({ fingerprint, terms: issueTerms }).exactOptional(),
  retiring: z.array(z.object({ fingerprint, retireAfter: time })),
  request: answeredRequest.exactOptional(),
});

export type RotationRecord = z.output<typeof record>;
type AuthorityRecord = NonNullable<RotationRecord['authority']>;

/** Reads the record; returns undefined if it is missing, damaged or of an unknown version. */
export function readRotationRecord(json: string | undefined): RotationRecord | undefined {
  try {
    return record.safeParse(JSON.parse(json ?? '')).data;
  } catch {
    return undefined;
  }
}

/** The decoded `data` of a Secret. */
export type SecretText = Readonly<Record<string, string>>;

/**
 * Encodes a state as Secret data: PEM under `ca.*` (the signing authority), `staged.*` (the next
 * authority), `tls.*` (the leaf) and `retiring.crt`; times and fingerprints in `rotation.json`.
 * Equal states yield equal data.
 */
export function writeRotationSecret(state: RotationState): SecretText {
  const { authority, staged, leaf, retiring, request } = state;
  const written = record.encode({
    version: 1,
    ...(authority && { authority: recordOf(authority) }),
    ...(staged && { staged: recordOf(staged) }),
    ...(leaf && { leaf: { fingerprint: leaf.chain[0].fingerprint, terms: leaf.terms } }),
    retiring: retiring.map((each) => ({ fingerprint: each.chain[0].fingerprint, retireAfter: each.retireAfter })),
    ...(request && { request }),
  });
  return {
    'rotation.json': JSON.stringify(written),
    ...(authority && { 'ca.crt': pemOf(authority.chain) }),
    ...(authority?.privateKeyPem !== undefined && { 'ca.key': authority.privateKeyPem }),
    ...(staged && { 'staged.crt': pemOf(staged.chain) }),
    ...(staged?.privateKeyPem !== undefined && { 'staged.key': staged.privateKeyPem }),
    ...(leaf && { 'tls.crt': pemOf(leaf.chain), 'tls.key': leaf.privateKeyPem }),
    ...(retiring.length > 0 && { 'retiring.crt': pemOf(retiring.flatMap(({ chain }) => chain)) }),
  };
}

function recordOf(stored: StoredAuthority): AuthorityRecord {
  const given = stored.privateKeyPem === undefined && { given: true as const };
  return { fingerprint: stored.chain[0].fingerprint, ...given, ...historyOf(stored) };
}

type History = Pick<StoredAuthority, 'terms' | 'publishedAt' | 'lastLeafNotAfter'>;

function historyOf({ terms, publishedAt, lastLeafNotAfter }: History): History {
  return { terms, ...(publishedAt && { publishedAt }), ...(lastLeafNotAfter && { lastLeafNotAfter }) };
}

/** The readable parts of the Secret, and its faults. */
export interface ReadRotationState {
  readonly state: RotationState;
  /** The damaged or missing parts, described without secrets; empty for an intact Secret. */
  readonly faults: readonly string[];
}

/** The defaults for parts whose record is lost. */
export interface RecordDefaults {
  readonly leaf: IssueTerms;
  readonly authority: IssueTerms;
  readonly retireAfter: Date;
}

/**
 * Reads data that writeRotationSecret wrote, part by part. Omits each damaged part and names it in
 * `faults`. An authority without a usable key becomes a retiring authority, so that its leaves stay
 * trusted.
 */
export function readRotationSecret(data: SecretText, defaults: RecordDefaults): ReadRotationState {
  const faults: string[] = [];
  const record = readRotationRecord(data['rotation.json']);
  if (record === undefined) faults.push('rotation.json is missing or damaged');
  const orphans: RetiringAuthority[] = [];
  // Without a record, the leaves that an authority signed are unknown.
  const unknownHistory = { terms: defaults.authority, lastLeafNotAfter: defaults.retireAfter };
  const readAuthority = (name: string, recorded: AuthorityRecord | undefined): StoredAuthority | undefined => {
    const part = readPart(data, name, recorded, faults);
    if (part === undefined || part.privateKeyPem !== undefined || recorded?.given === true)
      return part && { ...part, ...historyOf(recorded ?? unknownHistory) };
    orphans.push({ chain: part.chain, retireAfter: defaults.retireAfter });
    return undefined;
  };
  const authority = readAuthority('ca', record?.authority);
  const staged = readAuthority('staged', record?.staged);
  const { chain, privateKeyPem } = readPart(data, 'tls', record?.leaf, faults) ?? {};
  const terms = record?.leaf?.terms ?? defaults.leaf;
  const retiring = readRetiring(data['retiring.crt'] ?? '', record?.retiring ?? [], defaults.retireAfter, faults);
  return {
    state: {
      ...(authority && { authority }),
      ...(staged && { staged }),
      ...(chain !== undefined && privateKeyPem !== undefined && { leaf: { chain, privateKeyPem, terms } }),
      retiring: [...retiring, ...orphans],
      ...(record?.request && { request: record.request }),
    },
    faults,
  };
}

/** Reads one certificate, and its key if the stored key belongs to the certificate. */
function readPart(
  data: SecretText,
  name: string,
  recorded: { readonly fingerprint: string; readonly given?: true } | undefined,
  faults: string[],
): { readonly chain: CertificateChain; readonly privateKeyPem?: string } | undefined {
  const certificate = data[`${name}.crt`];
  const privateKeyPem = data[`${name}.key`];
  if (certificate === undefined && privateKeyPem === undefined && recorded === undefined) return undefined;
  const [entry, ...intermediates] = parseBundle(certificate ?? '');
  if (entry === undefined) {
    faults.push(`${name}.crt is missing or not a certificate`);
    return undefined;
  }
  if (recorded !== undefined && recorded.fingerprint !== entry.fingerprint) {
    faults.push(`${name}.crt is not the certificate recorded in rotation.json`);
    return undefined;
  }
  const chain: CertificateChain = [entry, ...intermediates];
  if (recorded?.given === true) return { chain };
  // node-forge cannot sign with the key of a foreign authority that is not RSA.
  const isUsable = name === 'tls' || entry.x509.publicKey.asymmetricKeyType === 'rsa';
  if (isUsable && privateKeyPem !== undefined && keyMatches(entry.x509, privateKeyPem)) return { chain, privateKeyPem };
  faults.push(`${name}.key is missing, is not RSA, or does not belong to ${name}.crt`);
  return { chain };
}

function readRetiring(
  pem: string,
  recorded: readonly { readonly fingerprint: string; readonly retireAfter: Date }[],
  unknown: Date,
  faults: string[],
): RetiringAuthority[] {
  const entries = parseBundle(pem);
  const lost = recorded.filter(({ fingerprint }) => !entries.some((entry) => entry.fingerprint === fingerprint));
  if (lost.length > 0) {
    faults.push(`retiring.crt lacks ${lost.length} of the ${recorded.length} certificates recorded in rotation.json`);
  }
  return entries.map((entry) => ({
    chain: [entry],
    retireAfter: recorded.find(({ fingerprint }) => fingerprint === entry.fingerprint)?.retireAfter ?? unknown,
  }));
}
