import { foreignCertificates } from '../../harness/tls-observer/foreign-certificates.ts';
import type { RotatingCluster } from '../../harness/tls-observer/rotating-cluster.ts';

/** Stops the controllers while `story` writes in their place, then waits until they repaired it. */
export async function takeOver<Result>(cluster: RotatingCluster, story: () => Promise<Result>) {
  const { controllers } = cluster.replicas;
  await Promise.all(controllers.map(({ operator }) => operator.process.stop(30_000)));
  const result = await story();
  const since = Date.now();
  await Promise.all(controllers.map(({ operator }) => operator.restart()));
  const foreign = cluster.observer.common();
  await cluster.context.check(
    'the returning operator replaces the foreign certificates with its own CA, with overlap',
    async () => {
      const served = cluster.observer.common();
      const { phase } = await cluster.status();
      return served !== undefined && served !== foreign && ['Stable', 'Retiring'].includes(phase ?? '');
    },
  );
  await cluster.losses.checkNone('during the takeover by the operator', since);
  return result;
}

/** Negative control: replaces the leaf before the bundle; returns the number of lost admissions. */
export async function checkLeafBeforeBundle(cluster: RotatingCluster): Promise<number> {
  const { names, namespace, losses } = cluster;
  const { authority, serving } = await foreignCertificates(names.service, namespace);
  const before = await cluster.bundle();
  const since = Date.now();
  const violations = cluster.observer.violations.length;
  await cluster.writeSecret(names.servingSecret, serving);
  await cluster.context.check(
    'with a certificate whose CA is not in the bundle, creations are refused and the observer sees the reason',
    () => losses.report(since).lost.length > 0 && cluster.observer.violations.length > violations,
  );
  await cluster.writeBundle(before + authority);
  return settle(cluster, since);
}

/** Negative control: replaces the bundle before the leaf; returns the number of lost admissions. */
export async function checkBundleWithoutOverlap(cluster: RotatingCluster): Promise<number> {
  const { names, namespace, losses } = cluster;
  const { authority, serving } = await foreignCertificates(names.service, namespace);
  const since = Date.now();
  await cluster.writeBundle(authority);
  await cluster.context.check(
    'with a bundle that lacks the CA of the served certificate, creations are refused and the observer sees it',
    () => losses.report(since).lost.length > 0,
  );
  await cluster.writeSecret(names.servingSecret, serving);
  return settle(cluster, since);
}

async function settle(cluster: RotatingCluster, since: number): Promise<number> {
  await cluster.waitForCalm();
  await cluster.losses.checkNone('after the missing half was written', Date.now());
  return cluster.losses.report(since).lost.length;
}
