import { foreignCertificates } from '../../harness/tls-observer/foreign-certificates.ts';
import type { RotatingCluster } from '../../harness/tls-observer/rotating-cluster.ts';

/** Ends the controllers, so that nobody repairs, while `story` writes in their place; then has them repair it, and waits until all is well. */
export async function takeOver<Result>(cluster: RotatingCluster, story: () => Promise<Result>) {
  const { controllers } = cluster.replicas;
  await Promise.all(controllers.map(({ operator }) => operator.process.stop(30_000)));
  const result = await story();
  const since = Date.now();
  await Promise.all(controllers.map(({ operator }) => operator.restart()));
  const foreign = cluster.observer.common();
  await cluster.context.check(
    'the operator is back: it replaces what others have written with an authority of its own, with overlap',
    async () => {
      const served = cluster.observer.common();
      const { phase } = await cluster.status();
      return served !== undefined && served !== foreign && ['Stable', 'Retiring'].includes(phase ?? '');
    },
  );
  await cluster.losses.checkNone('others have written, the operator takes over', since);
  return result;
}

/** The negative control: the new certificate first, then the bundle. Returns how many admissions that lost. */
export async function checkLeafBeforeBundle(cluster: RotatingCluster): Promise<number> {
  const { names, namespace, losses } = cluster;
  const { authority, serving } = await foreignCertificates(names.service, namespace);
  const before = await cluster.bundle();
  const since = Date.now();
  const violations = cluster.observer.violations.length;
  await cluster.writeSecret(names.servingSecret, serving);
  await cluster.context.check(
    'a certificate before its authority is in the bundle: creations are refused, and the observer sees why',
    () => losses.report(since).lost.length > 0 && cluster.observer.violations.length > violations,
  );
  await cluster.writeBundle(before + authority);
  return settle(cluster, since);
}

/** The negative control: the new bundle in place of the old one, then the certificate. Returns how many admissions that lost. */
export async function checkBundleWithoutOverlap(cluster: RotatingCluster): Promise<number> {
  const { names, namespace, losses } = cluster;
  const { authority, serving } = await foreignCertificates(names.service, namespace);
  const since = Date.now();
  await cluster.writeBundle(authority);
  await cluster.context.check(
    'a bundle without the authority of the certificate that is served: creations are refused, and it is seen',
    () => losses.report(since).lost.length > 0,
  );
  await cluster.writeSecret(names.servingSecret, serving);
  return settle(cluster, since);
}

async function settle(cluster: RotatingCluster, since: number): Promise<number> {
  await cluster.waitForCalm();
  await cluster.losses.checkNone('the other half is written too, pods are created as before', Date.now());
  return cluster.losses.report(since).lost.length;
}
