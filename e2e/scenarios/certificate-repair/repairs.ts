import { setTimeout as sleep } from 'node:timers/promises';
import { bundleFingerprints, parseBundle } from '../../../src/certs/bundle.ts';
import { keyMatches, verifyServingPair } from '../../../src/certs/verify-chain.ts';
import { readRotationRecord } from '../../../src/certs/rotation/rotation-secret.ts';
import { serviceHostName } from '../../../src/api/names.ts';
import type { RotatingCluster } from '../../harness/tls-observer/rotating-cluster.ts';
import { waitFor } from '../../harness/wait-for.ts';
import type { Damage } from './damages.ts';

/** Does it and waits until everything is sound again; how long that took, and what was lost where it had to. */
export async function damageAndRepair(
  cluster: RotatingCluster,
  damage: Damage,
  bound: number,
): Promise<{ milliseconds: number; lost: number }> {
  const { context, losses } = cluster;
  const trusted = new Trusted(bundleFingerprints(await cluster.bundle()));
  trusted.note(await cluster.secret(cluster.names.authoritySecret));
  const harmed = Date.now();
  await damage.harm(cluster);
  const written = Date.now();
  const last = await waitFor(`${damage.says}: to be repaired`, () => lookFor(cluster, trusted), {
    timeout: 60_000,
    interval: 20,
  });
  const milliseconds = last - written;
  const still = await cluster.standstill.between(written, last);
  await context.checkNow(
    `${damage.says}: repaired after ${milliseconds} ms, with every authority that was trusted`,
    () => milliseconds <= bound + still,
  );
  if (damage.isHarmless) {
    // The operator writes an object that others write to once a second at most; this is no contest.
    await sleep(1000);
    return { milliseconds, lost: 0 };
  }
  await cluster.waitForCalm();
  const lost = losses.report(harmed).lost.length;
  context.say(`lost until then: ${lost}`);
  return { milliseconds, lost };
}

/** Checks that since a time (milliseconds since 1970) nothing was lost, and that every replica went on with a certificate that the bundle verifies. */
export async function checkHarmless({ context, losses, observer }: RotatingCluster, since: number): Promise<void> {
  await losses.checkNone('damaged Secrets', since);
  await observer.waitForRound();
  for (const { description } of observer.violationsSince(since).slice(0, 5)) context.say(description);
  await context.checkNow(
    'every replica went on with a certificate that the bundle verifies',
    () => observer.violationsSince(since).length === 0,
  );
}

/** The authorities that were trusted when a damage was done: they stay, but for one whose time has come meanwhile by the rotation's own record. */
class Trusted {
  readonly #fingerprints: Set<string>;
  /** From when on they may leave the bundle, in milliseconds since 1970. */
  readonly #retireAfter = new Map<string, number>();

  constructor(fingerprints: Set<string>) {
    this.#fingerprints = fingerprints;
  }

  /** Takes down which of them were about to leave, by the authority's Secret; a damaged one says nothing. */
  note(stored: Record<string, string> | undefined): void {
    for (const { fingerprint, retireAfter } of readRotationRecord(stored?.['rotation.json'])?.retiring ?? []) {
      this.#retireAfter.set(fingerprint, retireAfter.getTime());
    }
  }

  /** Whether one that should be there is not in a bundle that was read at a time. */
  hasLost(bundle: Set<string>, time: number): boolean {
    return [...this.#fingerprints].some(
      (fingerprint) => !bundle.has(fingerprint) && (this.#retireAfter.get(fingerprint) ?? Infinity) > time,
    );
  }
}

/** The time at which everything was seen to be sound; undefined while it is not. */
async function lookFor(cluster: RotatingCluster, trusted: Trusted): Promise<number | undefined> {
  const { names, namespace } = cluster;
  const [bundle, serving = {}, stored = {}] = await Promise.all([
    cluster.bundle(),
    cluster.secret(names.servingSecret),
    cluster.secret(names.authoritySecret),
  ]);
  const seen = Date.now();
  const pair = { certificatePem: serving['tls.crt'] ?? '', privateKeyPem: serving['tls.key'] ?? '', caPem: bundle };
  const host = serviceHostName(names.service, namespace);
  const faults = verifyServingPair(pair, { now: new Date(), names: [host] }).map(({ message }) => message);
  trusted.note(stored);
  if (trusted.hasLost(bundleFingerprints(bundle), seen)) faults.push('an authority has left the bundle');
  faults.push(...storedFaults(stored));
  if (faults.length > 0) throw new Error(faults.join('; '));
  return seen;
}

/** What is wrong with the authority's Secret: its parts must be those that its record names, with their keys. */
function storedFaults(stored: Record<string, string>): string[] {
  const { authority, staged } = JSON.parse(stored['rotation.json'] ?? '{}') as Record<
    string,
    { fingerprint: string } | undefined
  >;
  const parts = [
    ['ca', authority],
    ['staged', staged],
  ] as const;
  const faults = parts.flatMap(([name, record]) => {
    if (record === undefined) return [];
    const [certificate] = parseBundle(stored[`${name}.crt`] ?? '');
    if (certificate?.fingerprint !== record.fingerprint) return [`${name}.crt is not what the record names`];
    return keyMatches(certificate.x509, stored[`${name}.key`] ?? '') ? [] : [`${name}.key is of another pair`];
  });
  return authority === undefined && staged === undefined ? ['no authority is stored', ...faults] : faults;
}
