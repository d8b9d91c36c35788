import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { ellipticPair, foreignCertificates } from '../../harness/tls-observer/foreign-certificates.ts';
import type { RotatingCluster } from '../../harness/tls-observer/rotating-cluster.ts';

/** Something that somebody else does to what certificates consist of. */
export interface Damage {
  says: string;
  harm: (cluster: RotatingCluster) => Promise<unknown>;
  /** Nothing may be lost: API servers trust, and replicas have in memory, what they had before. */
  isHarmless: boolean;
}

type Text = Record<string, string>;

/** The damages of one Secret whose certificate and key are under these names. */
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

/** Each damage of the two Secrets. */
export const secretDamages: Damage[] = [
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
export const bundleDamages: Damage[] = [
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
