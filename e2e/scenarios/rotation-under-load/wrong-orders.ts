import { foreignCertificates } from '../../harness/tls-observer/foreign-certificates.ts';
import type { RotatingCluster } from '../../harness/tls-observer/rotating-cluster.ts';

/** Stops the controllers while `story` writes; waits until they have repaired everything. */
export async function takeOver<Result>(cluster: RotatingCluster, story: () => Promise<Result>) {
  const { controllers } = cluster.replicas;
  await Promise.all(controllers.map(({ operator }) => operator.process.stop(30_000)));
  const result = await story();
  const since = Date.now();
  await Promise.all(controllers.map(({ operator }) => operator.restart()));
  const foreign = cluster.observer.common();
  await cluster.context.check(
    'after its restart, the operator replaces the foreign certificates with its own, with overlap',
    async () => {
      const served = cluster.observer.common();
      const { phase } = await cluster.status();
      return served !== undefined && served !== foreign && ['Stable', 'Retiring'].includes(phase ?? '');
    },
  );
  await cluster.losses.checkNone('while the operator replaced the foreign certificates', since);
  return result;
}

/** A negative control: replaces the leaf before the bundle. Returns the number of lost pods. */
export async function checkLeafBeforeBundle(cluster: RotatingCluster): Promise<number> {
  const { names, namespace, losses } = cluster;
  const { authority, serving } = await foreignCertificates(names.service, namespace);
  const before = await cluster.bundle();
  const since = Date.now();
  const violations = cluster.observer.violations.length;
  await cluster.writeSecret(names.servingSecret, serving);
  await cluster.context.check(
    'negative control: if the bundle lacks the CA of a new certificate, pods are refused and the observer sees why',
    () => losses.report(since).lost.length > 0 && cluster.observer.violations.length > violations,
  );
  await cluster.writeBundle(before + authority);
  return settle(cluster, since);
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
  return settle(cluster, since);
}

async function settle(cluster: RotatingCluster, since: number): Promise<number> {
  await cluster.waitForCalm();
  await cluster.losses.checkNone('after the missing object was written', Date.now());
  return cluster.losses.report(since).lost.length;
}
