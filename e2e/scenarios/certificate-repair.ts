import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { serviceHostName } from '../../src/api/names.ts';
import { bundleFingerprints, parseBundle } from '../../src/certs/bundle.ts';
import { readRotationRecord } from '../../src/certs/rotation/rotation-secret.ts';
import { keyMatches, verifyServingPair } from '../../src/certs/verify-chain.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { applyAll } from '../harness/apply.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { ellipticPair, foreignCertificates } from '../harness/tls-observer/foreign-certificates.ts';
import { RotatingCluster, rotatingFlags, shortTerms } from '../harness/tls-observer/rotating-cluster.ts';
import { waitFor } from '../harness/wait-for.ts';

export const certificateRepair: Scenario = {
  name: 'certificate-repair',
  about:
    'Secrets, caBundles and webhook configurations are deleted, damaged and replaced under load: repaired at once, and nothing is lost where a good pair was in memory',
  full: 'each damage 5 times, repaired within a second, about 4 minutes',
  run: (context) =>
    RotatingCluster.run(
      context,
      { name: 'damaged', certificate: shortTerms, flags: rotatingFlags, perSecond: 25 },
      async (cluster) => {
        const isFull = context.size === 'full';
        // A repair that has to wait for two keys on a machine that does many other things.
        const bound = isFull ? 1000 : 10_000;
        const slowest: Record<string, number> = {};
        const lostMeanwhile: Record<string, number> = {};
        for (let round = 0; round < (isFull ? 5 : 1); round++) {
          const since = Date.now();
          for (const damage of secretDamages) {
            const { milliseconds } = await damageAndRepair(cluster, damage, bound);
            slowest[damage.says] = Math.max(slowest[damage.says] ?? 0, milliseconds);
          }
          await checkHarmless(cluster, since);
          for (const damage of bundleDamages) {
            const { milliseconds, lost } = await damageAndRepair(cluster, damage, bound);
            slowest[damage.says] = Math.max(slowest[damage.says] ?? 0, milliseconds);
            lostMeanwhile[damage.says] = Math.max(lostMeanwhile[damage.says] ?? 0, lost);
          }
          await checkReapplied(cluster);
        }
        await cluster.load.stop();
        const { created } = cluster.losses.report();
        const worst = Math.max(...Object.values(slowest));
        context.measured({ created, slowestRepairMilliseconds: slowest, mostLostUntilRepaired: lostMeanwhile });
        const lost = Object.values(lostMeanwhile).reduce((sum, each) => sum + each, 0);
        return `${Object.keys(slowest).length} damages, the slowest repair ${worst} ms; ${created} pods: 0 lost by damaged Secrets and a chart applied again; ${lost} until a caBundle or configuration was back`;
      },
    ),
};

/** The chart is applied again while an authority is being replaced: the replacement ends as if nothing had been. */
export async function checkReapplied(cluster: RotatingCluster): Promise<void> {
  const { context, observer, losses, replicas } = cluster;
  const issuer = observer.common()?.issuer;
  const since = Date.now();
  const nonce = await beginReplacement(cluster);
  await applyAll(context.client, replicas.installation.objects.map(withoutReplicas));
  await cluster.waitForDone(nonce);
  await context.check('the chart is applied again in the middle of a rotation, which ends as it should', () => {
    const leaf = observer.common();
    return leaf?.issuer !== undefined && leaf.issuer !== issuer;
  });
  await losses.checkNone('the chart is applied again', since);
  await context.check('and no replica was seen with a certificate that the bundle does not verify', () => {
    return observer.violationsSince(since).length === 0;
  });
}

/** Asks for another authority until a replacement is seen under way: one that was through before we looked says nothing. Returns the request's nonce. */
async function beginReplacement(cluster: RotatingCluster): Promise<string> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const nonce = await cluster.request('authority');
    const seen = await waitFor('the replacement to be under way', async () => {
      const { phase = '', rotateRequest } = await cluster.status();
      if (rotateRequest?.nonce !== nonce) return undefined;
      return ['Publishing', 'Confirming'].includes(phase) ? 'under way' : rotateRequest.state === 'Done' && 'over';
    });
    if (seen === 'under way') return nonce;
  }
  throw new Error('no replacement was seen under way');
}

/** How many pods there are is the harness's matter: its replicas have their tokens. */
function withoutReplicas(object: KubernetesObject): KubernetesObject {
  if (object.kind !== 'Deployment') return object;
  const spec = Object.entries(object['spec'] as Record<string, unknown>).filter(([field]) => field !== 'replicas');
  return { ...object, spec: Object.fromEntries(spec) };
}

/** Does it and waits until everything is sound again; how long that took, and what was lost where it had to. */
async function damageAndRepair(cluster: RotatingCluster, damage: Damage, bound: number) {
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
async function checkHarmless(cluster: RotatingCluster, since: number): Promise<void> {
  await cluster.losses.checkNone('damaged Secrets', since);
  await cluster.checkNoViolations('every replica went on with a certificate that the bundle verifies', since);
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

interface Damage {
  says: string;
  harm: (cluster: RotatingCluster) => Promise<unknown>;
  isHarmless: boolean;
}

type Text = Record<string, string>;

function damagesOf(
  which: string,
  nameOf: (cluster: RotatingCluster) => string,
  [crt, key]: [string, string],
  foreign: (cluster: RotatingCluster) => Promise<Text>,
): Damage[] {
  const rewritten = (says: string, change: (text: Text, cluster: RotatingCluster) => Promise<Text> | Text): Damage => ({
    says: `${which} ${says}`,
    isHarmless: true,
    harm: async (cluster) => {
      const name = nameOf(cluster);
      await cluster.writeSecret(name, await change((await cluster.secret(name)) ?? {}, cluster));
    },
  });
  const half = (text = '') => text.slice(0, text.length / 2);
  return [
    {
      says: `${which} is deleted`,
      isHarmless: true,
      harm: async (cluster) => {
        const { namespace } = cluster;
        const secret = await cluster.context.client.get(resourceKind('v1', 'Secret'), nameOf(cluster), { namespace });
        await cluster.context.client.delete(secret);
      },
    },
    rewritten('is truncated', (text) => ({ [crt]: half(text[crt]) })),
    rewritten("has another pair's key", async (_text, cluster) => {
      return { [key]: (await foreign(cluster))[key] ?? '' };
    }),
    rewritten('is of a foreign authority', (_text, cluster) => foreign(cluster)),
    rewritten('has a pair of another algorithm', async (_text, { names }) => {
      const pair = await ellipticPair(names.service);
      return { [crt]: pair.certificate, [key]: pair.key };
    }),
  ];
}

const secretDamages: Damage[] = [
  ...damagesOf(
    'the serving Secret',
    ({ names }) => names.servingSecret,
    ['tls.crt', 'tls.key'],
    async ({ names, namespace }) => ({ ...(await foreignCertificates(names.service, namespace)).serving }),
  ),
  ...damagesOf(
    "the authority's Secret",
    ({ names }) => names.authoritySecret,
    ['ca.crt', 'ca.key'],
    async ({ names, namespace }) => {
      const { authority, authorityKey } = await foreignCertificates(names.service, namespace);
      return { 'ca.crt': authority, 'ca.key': authorityKey };
    },
  ),
];

/** Damages by which API servers cannot, or do not, call us until they are repaired. */
const bundleDamages: Damage[] = [
  {
    says: 'the caBundle is edited',
    isHarmless: false,
    harm: async (cluster) => cluster.writeBundle((await cluster.bundle()).replaceAll('A', 'B')),
  },
  {
    says: 'the caBundle is of a foreign authority',
    isHarmless: false,
    harm: async (cluster) => {
      const { authority } = await foreignCertificates(cluster.names.service, cluster.namespace);
      await cluster.writeBundle(authority);
    },
  },
  { says: 'the caBundle is emptied', isHarmless: false, harm: (cluster) => cluster.writeBundle('') },
  {
    says: 'the configuration is deleted',
    isHarmless: false,
    harm: async (cluster) => {
      const webhook = await cluster.webhook();
      if (webhook !== undefined) await cluster.context.client.delete(webhook);
    },
  },
];
