import { setTimeout as sleep } from 'node:timers/promises';
import { parseBundle } from '../../../src/certs/read-certificate.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { follow } from '../../harness/follow.ts';
import { decoded, type RotatingCluster } from '../../harness/tls-observer/rotating-cluster.ts';
import { none } from '../../harness/wait-for.ts';

/** The earliest renewal, as a share of the life, if `renewalFraction` is 0.5. */
const earliestShare = 0.45;

interface Issued {
  issuer: string;
  issuedAt: number;
  notAfter: number;
}

/** Follows rotation records for `milliseconds`, or longer until a leaf and a CA have expired. */
export async function crossExpiry(cluster: RotatingCluster, milliseconds: number) {
  const { context, observer } = cluster;
  const leaves = new Map<string, Issued>();
  const authorities = new Map<string, Issued>();
  const until = Date.now() + milliseconds;
  const expired = (all: Map<string, Issued>) => [...all.values()].filter(({ notAfter }) => notAfter < Date.now());
  const deadline = until + 150_000;
  const selected = { namespace: cluster.namespace, fieldSelector: `metadata.name=${cluster.names.authoritySecret}` };
  // Use a watch, because polling would miss versions on a slow machine.
  const follower = await follow(context, resourceKind('v1', 'Secret'), selected, (secret) => {
    note(decoded(secret), leaves, authorities);
  });
  try {
    while (Date.now() < until || expired(leaves).length === 0 || expired(authorities).length === 0) {
      if (Date.now() > deadline) throw new Error('no authority has expired within 150 s');
      await sleep(200);
    }
  } finally {
    await follower.stop();
  }
  const wrong = [...faults(leaves, 'serving certificate'), ...faults(authorities, 'authority')];
  await context.checkNow(
    `each of the ${expired(leaves).length} serving certificates and ${expired(authorities).length} authorities that expired was renewed between ${earliestShare * 100} and 100 % of its life`,
    () => none(wrong),
  );
  await context.check('the bundle contains no expired authority', async () => {
    const bundle = parseBundle(await cluster.bundle());
    return bundle.length > 0 && bundle.every(({ notAfter }) => notAfter.getTime() > Date.now());
  });
  await context.check('every replica serves a valid certificate of a valid authority', () => {
    const leaf = observer.common();
    return leaf?.issuer !== undefined && leaf.notAfter.getTime() > Date.now();
  });
  const figures = { expiredLeaves: expired(leaves).length, expiredAuthorities: expired(authorities).length };
  return { leaves: leaves.size, authorities: authorities.size, ...figures };
}

/** Adds the certificates of one version of the authority's Secret to the maps, by fingerprint. */
function note(stored: Record<string, string>, leaves: Map<string, Issued>, authorities: Map<string, Issued>): void {
  const record = JSON.parse(stored['rotation.json'] ?? '{}') as Partial<
    Record<'leaf' | 'authority', { fingerprint: string; terms: { issuedAt: string } }>
  >;
  const add = (name: 'tls' | 'ca', part: typeof record.leaf, into: Map<string, Issued>) => {
    const [certificate] = parseBundle(stored[`${name}.crt`] ?? '');
    if (part === undefined || certificate?.fingerprint !== part.fingerprint || into.has(part.fingerprint)) return;
    into.set(part.fingerprint, {
      issuer: certificate.x509.issuer,
      issuedAt: Date.parse(part.terms.issuedAt),
      notAfter: certificate.notAfter.getTime(),
    });
  };
  add('tls', record.leaf, leaves);
  add('ca', record.authority, authorities);
}

/** Describes renewals that were too early or too late. A new CA may cause an early leaf renewal. */
function faults(issued: Map<string, Issued>, what: string): string[] {
  const all = [...issued.values()].sort((left, right) => left.issuedAt - right.issuedAt);
  return all.slice(1).flatMap((next, index) => {
    const before = all[index];
    if (before === undefined) return [];
    const share = (next.issuedAt - before.issuedAt) / (before.notAfter - before.issuedAt);
    const isScheduled = what === 'authority' || next.issuer === before.issuer;
    if (share >= 1) return [`a ${what} was renewed after ${Math.round(share * 100)} % of its life`];
    return isScheduled && share < earliestShare
      ? [`a ${what} was renewed at ${Math.round(share * 100)} % of its life`]
      : [];
  });
}
