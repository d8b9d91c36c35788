import { foreignCertificates } from '../../harness/tls-observer/foreign-certificates.ts';
import type { RotatingCluster } from '../../harness/tls-observer/rotating-cluster.ts';

/**
 * Stops the controllers while `story` writes certificates of a cluster and of `others`, which share
 * its replicas. Waits until the controllers have repaired everything.
 */
export async function takeOver<Result>(
  cluster: RotatingCluster,
  story: () => Promise<Result>,
  ...others: RotatingCluster[]
) {
  const { controllers } = cluster.replicas;
  const all = [cluster, ...others];
  await Promise.all(controllers.map(({ operator }) => operator.process.stop(30_000)));
  const result = await story();
  const since = Date.now();
  const foreign = all.map(({ observer }) => observer.common());
  await Promise.all(controllers.map(({ operator }) => operator.restart()));
  await cluster.context.check(
    'after its restart, the operator replaces the foreign certificates with its own, with overlap',
    async () => {
      const statuses = await Promise.all(all.map((each) => each.status()));
      return all.every(({ observer }, index) => {
        const served = observer.common();
        const isOwn = served !== undefined && served !== foreign[index];
        return isOwn && ['Stable', 'Retiring'].includes(statuses[index]?.phase ?? '');
      });
    },
  );
  for (const { losses } of all) await losses.checkNone('while the operator replaced the foreign certificates', since);
  return result;
}

/**
 * A negative control: replaces the leaves of all clusters before their bundles. Returns the number
 * of lost pods.
 */
export async function checkLeafBeforeBundle(...clusters: [RotatingCluster, ...RotatingCluster[]]): Promise<number> {
  const since = Date.now();
  const harms = await Promise.all(
    clusters.map(async (cluster) => {
      const { names, namespace, losses, observer } = cluster;
      const { authority, serving } = await foreignCertificates(names.service, namespace);
      const bundle = await cluster.bundle();
      const violations = observer.violations.length;
      await cluster.writeSecret(names.servingSecret, serving);
      return {
        isSeen: () => losses.report(since).lost.length > 0 && observer.violations.length > violations,
        repair: () => cluster.writeBundle(bundle + authority),
      };
    }),
  );
  await clusters[0].context.check(
    'negative control: if the bundle lacks the CA of a new certificate, pods are refused and the observer sees why',
    () => harms.every(({ isSeen }) => isSeen()),
  );
  await Promise.all(harms.map(({ repair }) => repair()));
  return settle(clusters, since);
}

/** A negative control: replaces the bundle before the leaf. Returns the number of lost pods. */
export async function checkBundleWithoutOverlap(cluster: RotatingCluster): Promise<number> {
  const { names, namespace, losses } = cluster;
  const { authority, serving } = await foreignCertificates(names.service, namespace);
  const since = Date.now();
  await cluster.writeBundle(authority);
  await cluster.context.check(
    'negative control: if a new bundle lacks the CA of the served certificate, pods are refused',
    () => losses.report(since).lost.length > 0,
  );
  await cluster.writeSecret(names.servingSecret, serving);
  return settle([cluster], since);
}

async function settle(clusters: readonly RotatingCluster[], since: number): Promise<number> {
  await Promise.all(clusters.map((each) => each.waitForCalm()));
  const calm = Date.now();
  for (const { losses } of clusters) await losses.checkNone('after the missing object was written', calm);
  return clusters.reduce((sum, { losses }) => sum + losses.report(since).lost.length, 0);
}
