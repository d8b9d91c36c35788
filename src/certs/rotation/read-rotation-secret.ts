import { parseBundle } from '../bundle.ts';
import { readRotationRecord } from './rotation-record.ts';
import type { ReadRotationRecord } from './rotation-record.ts';
import type { IssueTerms, RetiringAuthority, RotationState } from './rotation-state.ts';
import { keyMatches } from '../verify-chain.ts';
import type { SecretText } from './write-rotation-secret.ts';

/** What could be read of the Secret, and what could not. */
export interface ReadRotationState {
  readonly state: RotationState;
  /** What is damaged or missing, in words without secrets; empty when the Secret is whole. */
  readonly faults: readonly string[];
}

/** What a part whose record is lost is taken to have been issued for, and until when an authority of unknown use stays in the bundle. */
export interface RecordDefaults {
  readonly leaf: IssueTerms;
  readonly authority: IssueTerms;
  readonly retireAfter: Date;
}

/**
 * Reads what writeRotationSecret wrote, part by part: a damaged part is left out and named in `faults`, the others are used. An authority
 * without a usable key becomes a retiring one, so that the leaves that it signed go on being trusted.
 */
export function readRotationSecret(data: SecretText, defaults: RecordDefaults): ReadRotationState {
  const faults: string[] = [];
  const record = readRotationRecord(data['rotation.json']);
  if (record === undefined) {
    faults.push('rotation.json is missing or damaged');
  }
  const ca = readPart(data, 'ca', record?.authority, faults);
  const next = readPart(data, 'staged', record?.staged, faults);
  const tls = readPart(data, 'tls', record?.leaf, faults);
  const orphans = [ca, next].flatMap((part) =>
    part !== undefined && !isUsable(part)
      ? [{ certificatePem: part.certificatePem, retireAfter: defaults.retireAfter }]
      : [],
  );
  return {
    state: {
      ...(ca && isUsable(ca) && { authority: { ...authorityOf(ca), ...historyOf(record?.authority, defaults) } }),
      ...(next && isUsable(next) && { staged: { ...authorityOf(next), ...historyOf(record?.staged, defaults) } }),
      ...(isKeyed(tls) && {
        leaf: {
          certificatePem: tls.certificatePem,
          privateKeyPem: tls.privateKeyPem,
          terms: record?.leaf?.terms ?? defaults.leaf,
        },
      }),
      retiring: [
        ...readRetiring(data['retiring.crt'] ?? '', record?.retiring ?? [], defaults.retireAfter, faults),
        ...orphans,
      ],
      ...(record?.request && { request: record.request }),
    },
    faults,
  };
}

type AuthorityRecord = NonNullable<ReadRotationRecord['authority']>;

function historyOf(
  recorded: AuthorityRecord | undefined,
  defaults: RecordDefaults,
): Omit<AuthorityRecord, 'fingerprint' | 'given'> {
  if (recorded === undefined) {
    // Without a record nobody knows which leaves it signed.
    return { terms: defaults.authority, lastLeafNotAfter: defaults.retireAfter };
  }
  const { terms, publishedAt, lastLeafNotAfter } = recorded;
  return { terms, ...(publishedAt && { publishedAt }), ...(lastLeafNotAfter && { lastLeafNotAfter }) };
}

interface Part {
  readonly certificatePem: string;
  /** Only when it belongs to the certificate. */
  readonly privateKeyPem?: string;
  /** Somebody else has the key. */
  readonly isGiven: boolean;
}

function isKeyed(part: Part | undefined): part is Required<Part> {
  return part?.privateKeyPem !== undefined;
}

function isUsable(part: Part): boolean {
  return part.isGiven || isKeyed(part);
}

function authorityOf({ certificatePem, privateKeyPem }: Part): Pick<Part, 'certificatePem' | 'privateKeyPem'> {
  return { certificatePem, ...(privateKeyPem !== undefined && { privateKeyPem }) };
}

function readPart(
  data: SecretText,
  name: string,
  recorded: { readonly fingerprint: string; readonly given?: true } | undefined,
  faults: string[],
): Part | undefined {
  const certificate = data[`${name}.crt`];
  const privateKeyPem = data[`${name}.key`];
  if (certificate === undefined && privateKeyPem === undefined && recorded === undefined) {
    return undefined;
  }
  const entries = parseBundle(certificate ?? '');
  const [entry] = entries;
  if (entry === undefined) {
    faults.push(`${name}.crt is missing or no certificate`);
    return undefined;
  }
  if (recorded !== undefined && recorded.fingerprint !== entry.fingerprint) {
    faults.push(`${name}.crt is not the certificate that rotation.json names`);
    return undefined;
  }
  const certificatePem = entries.map(({ pem }) => pem).join('');
  const isGiven = recorded?.given === true;
  if (isGiven) {
    return { certificatePem, isGiven };
  }
  if (privateKeyPem === undefined || !keyMatches(entry.x509, privateKeyPem)) {
    faults.push(`${name}.key is missing or does not belong to ${name}.crt`);
    return { certificatePem, isGiven };
  }
  return { certificatePem, privateKeyPem, isGiven };
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
    faults.push(`retiring.crt lacks ${lost.length} of the ${recorded.length} certificates that rotation.json names`);
  }
  return entries.map((entry) => ({
    certificatePem: entry.pem,
    retireAfter: recorded.find(({ fingerprint }) => fingerprint === entry.fingerprint)?.retireAfter ?? unknown,
  }));
}
