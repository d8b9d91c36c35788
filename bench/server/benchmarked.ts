import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { issueAuthority, issueServingCertificate } from '../../src/certs/issue-certificate.ts';
import { generateRsaKeyPair, type CertifiedKey } from '../../src/certs/key-pair.ts';

/** A server that a child process started on loopback. */
export interface BenchmarkedServer {
  readonly port: number;
  /** Returns the number of decisions that the server reused from its cache. */
  reused(): Promise<number>;
}

/** The request header with the length of our server's answer, which the bare server imitates. */
export const answerBytesHeader = 'x-answer-bytes';

export function bytesToAnswer(request: IncomingMessage): number {
  return Number(request.headers[answerBytesHeader] ?? 0);
}

/** Issues a serving certificate. All compared servers have the same kind of key and chain. */
export async function certificatePair(): Promise<CertifiedKey> {
  const [caKeys, leafKeys] = await Promise.all([generateRsaKeyPair(2048), generateRsaKeyPair(2048)]);
  const options = { now: new Date(), duration: 86_400_000, random: randomBytes };
  const authority = issueAuthority('bench', caKeys, options);
  return issueServingCertificate(authority, { service: 'bench', namespace: 'bench' }, leafKeys, options);
}
