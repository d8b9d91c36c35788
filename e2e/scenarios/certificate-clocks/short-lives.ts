import { setTimeout as sleep } from 'node:timers/promises';
import { parseBundle } from '../../../src/certs/bundle.ts';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import type { RotatingCluster } from '../../harness/tls-observer/rotating-cluster.ts';

/** An hour is a minute: a serving certificate lives for 12 s and an authority for 20, both are renewed at half of it, or up to a tenth earlier. */
export const shortLives = {
  leafDuration: '12m',
  caDuration: '20m',
  confirmationPeriod: '60s',
  renewalFraction: 0.5,
};
/** The earliest share of a life at which a renewal may come. */
const earliestShare = 0.45;

/** A certificate of the rotation's record. */
interface Issued {
  fingerprint: string;
  /** Of the authority that signed it. */
  issuer: string;
  issuedAt: number;
  notAfter: number;
}

interface CrossedExpiry {
  leaves: number;
  expiredLeaves: number;
  authorities: number;
  expiredAuthorities: number;
}

/** Follows the rotation's record until a serving certificate and an authority have expired, and for `milliseconds` at least; checks when each was renewed. */
export async function crossExpiry(cluster: RotatingCluster, milliseconds: number): Promise<CrossedExpiry> {
  const { context, observer } = cluster;
  const leaves = new Map<string, Issued>();
  const authorities = new Map<string, Issued>();
  const until = Date.now() + milliseconds;
  const expired = (all: Map<string, Issued>) => [...all.values()].filter(({ notAfter }) => notAfter < Date.now());
  const giveUp = until + 150_000;
  const follower = new SecretFollower(cluster, (stored) => {
    note(stored, leaves, authorities);
  });
  try {
    while (Date.now() < until || expired(leaves).length === 0 || expired(authorities).length === 0) {
      if (Date.now() > giveUp) throw new Error('no authority has expired although its life is over');
      await sleep(200);
    }
  } finally {
    await follower.stop();
  }
  const early = [...faults(leaves, 'serving certificate'), ...faults(authorities, 'authority')];
  for (const fault of early) context.say(fault);
  await context.checkNow(
    `${expired(leaves).length} serving certificates and ${expired(authorities).length} authorities have expired, each renewed before, none before ${earliestShare * 100} % of its life`,
    () => early.length === 0,
  );
  await context.check('authorities that have expired are no longer in the bundle', async () => {
    const bundle = parseBundle(await cluster.bundle());
    return bundle.length > 0 && bundle.every(({ notAfter }) => notAfter.getTime() > Date.now());
  });
  await context.check('and every replica serves a certificate of one that has not', () => {
    const leaf = observer.common();
    return leaf?.issuer !== undefined && leaf.notAfter.getTime() > Date.now();
  });
  return {
    leaves: leaves.size,
    expiredLeaves: expired(leaves).length,
    authorities: authorities.size,
    expiredAuthorities: expired(authorities).length,
  };
}

/** Takes down what a version of the authority's Secret holds. */
function note(stored: Record<string, string>, leaves: Map<string, Issued>, authorities: Map<string, Issued>): void {
  const record = JSON.parse(stored['rotation.json'] ?? '{}') as Partial<
    Record<'leaf' | 'authority', { fingerprint: string; terms: { issuedAt: string } }>
  >;
  const take = (name: 'tls' | 'ca', part: typeof record.leaf, into: Map<string, Issued>) => {
    const [certificate] = parseBundle(stored[`${name}.crt`] ?? '');
    if (part === undefined || certificate?.fingerprint !== part.fingerprint || into.has(part.fingerprint)) return;
    into.set(part.fingerprint, {
      fingerprint: part.fingerprint,
      issuer: certificate.x509.issuer,
      issuedAt: Date.parse(part.terms.issuedAt),
      notAfter: certificate.notAfter.getTime(),
    });
  };
  take('tls', record.leaf, leaves);
  take('ca', record.authority, authorities);
}

/** Renewals that came too soon or too late. A new authority brings a new serving certificate with it, whenever that is. */
function faults(issued: Map<string, Issued>, what: string): string[] {
  const all = [...issued.values()].sort((left, right) => left.issuedAt - right.issuedAt);
  return all.slice(1).flatMap((next, index) => {
    const before = all[index];
    if (before === undefined) return [];
    const share = (next.issuedAt - before.issuedAt) / (before.notAfter - before.issuedAt);
    const isByTime = what === 'authority' || next.issuer === before.issuer;
    if (share >= 1) return [`a ${what} was renewed after ${Math.round(share * 100)} % of its life`];
    return isByTime && share < earliestShare
      ? [`a ${what} was renewed at ${Math.round(share * 100)} % of its life`]
      : [];
  });
}

type Secret = KubernetesObject & { data?: Record<string, string> };

const secrets = resourceKind('v1', 'Secret');

/** Is told of every version of the authority's Secret, in their order, by a watch: who only looked now and then would miss some on a slow machine. */
export class SecretFollower {
  readonly #cluster: RotatingCluster;
  readonly #told: (stored: Record<string, string>) => void;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  /** @param told the Secret's data as text */
  constructor(cluster: RotatingCluster, told: (stored: Record<string, string>) => void) {
    this.#cluster = cluster;
    this.#told = told;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { client } = this.#cluster.context;
    const { namespace, names } = this.#cluster;
    const selected = { namespace, fieldSelector: `metadata.name=${names.authoritySecret}` };
    let resourceVersion: string | undefined;
    while (!signal.aborted) {
      try {
        if (resourceVersion === undefined) {
          const list = await client.list<Secret>(secrets, { ...selected, signal });
          for (const secret of list.items) this.#take(secret);
          resourceVersion = list.resourceVersion;
        }
        for await (const { type, object } of client.watch<Secret>(secrets, {
          ...selected,
          resourceVersion,
          timeoutSeconds: 60,
          signal,
        })) {
          resourceVersion = object.metadata.resourceVersion ?? resourceVersion;
          if (type === 'ADDED' || type === 'MODIFIED') this.#take(object);
        }
      } catch {
        // Aborted, or the API server was away: then it goes on where it was.
        await sleep(100);
      }
    }
  }

  #take({ data = {} }: Secret): void {
    this.#told(
      Object.fromEntries(
        Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
      ),
    );
  }
}
