import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { issueAuthority, issueServingCertificate } from '../../src/certs/issue-certificate.ts';
import { generateRsaKeyPair, type CertifiedKey } from '../../src/certs/key-pair.ts';

/** A server that a child process has started on loopback. */
export interface BenchmarkedServer {
  readonly port: number;
  /** How many decisions it has given again instead of making them. */
  reused(): Promise<number>;
}

/** Tells the bare server how long an answer has to be, so that both servers answer the same number of bytes. */
export const answerBytesHeader = 'x-answer-bytes';

export function bytesToAnswer(request: IncomingMessage): number {
  return Number(request.headers[answerBytesHeader] ?? 0);
}

/** The same kind of key and chain for every server that is compared. */
export async function certificatePair(): Promise<CertifiedKey> {
  const [caKeys, leafKeys] = await Promise.all([generateRsaKeyPair(2048), generateRsaKeyPair(2048)]);
  const options = { now: new Date(), duration: 86_400_000, random: randomBytes };
  const authority = issueAuthority('bench', caKeys, options);
  return issueServingCertificate(authority, { service: 'bench', namespace: 'bench' }, leafKeys, options);
}
