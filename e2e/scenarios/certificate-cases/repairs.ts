import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../../src/kube/api-client.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { serviceHostName } from '../../../src/api/names.ts';
import { bundleFingerprints, parseBundle } from '../../../src/certs/read-certificate.ts';
import { readRotationRecord } from '../../../src/certs/rotation/rotation-secret.ts';
import { ellipticPair } from '../../../src/certs/testdata/elliptic-pair.ts';
import { keyMatches, parsePair, verifyServingPair } from '../../../src/certs/verify-chain.ts';
import { applyAll, objectOf } from '../../harness/apply.ts';
import { foreignCertificates } from '../../harness/tls-observer/foreign-certificates.ts';
import type { RotatingCluster } from '../../harness/tls-observer/rotating-cluster.ts';
import { none, waitFor } from '../../harness/wait-for.ts';
import { webhookNamed } from '../../harness/webhook-configurations.ts';

/** How long replicas certainly do not serve a certificate of an unrelated authority, in ms. */
const protectedMs = 2500;

/**
 * Checks that the operator repairs damaged objects, each within `boundMs` milliseconds. Returns the
 * slowest repairs, and the pods that were lost until a caBundle or webhook was repaired, by damage.
 */
export async function checkRepairs(cluster: RotatingCluster, rounds: number, boundMs: number) {
  const { context, losses } = cluster;
  const slowest: Record<string, number> = {};
  const lostMeanwhile: Record<string, number> = {};
  const repair = async ([says, harm]: Damage): Promise<number> => {
    const milliseconds = await damageAndRepair(cluster, [says, harm], boundMs);
    slowest[says] = Math.max(slowest[says] ?? 0, milliseconds);
    return milliseconds;
  };
  for (let round = 0; round < rounds; round++) {
    const since = Date.now();
    const reports: ReturnType<typeof losses.report>[] = [];
    for (const damage of secretDamages(cluster)) {
      const harmed = Date.now();
      const milliseconds = await repair(damage);
      // The operator repairs an object at most once per second.
      await sleep(1000);
      if (milliseconds < protectedMs) reports.push(losses.report({ askedSince: harmed, askedBefore: Date.now() }));
      else context.say(`replicas are not protected for ${milliseconds} ms; pods of that time do not count`);
    }
    const created = reports.reduce((sum, each) => sum + each.created, 0);
    const lost = reports.flatMap((each) => each.lost.map(({ description }) => description));
    await context.checkNow(
      `while Secrets were damaged: none of ${created} created pods was lost`,
      () => created >= 20 && none(lost),
    );
    await cluster.checkNoViolations('every replica always served a certificate that the bundle verifies', since);
    for (const [says, harm] of bundleDamages(cluster)) {
      const harmed = Date.now();
      await repair([says, harm]);
      await cluster.waitForCalm();
      const lost = losses.report(harmed).lost.length;
      context.say(`pods lost until the repair: ${lost}`);
      lostMeanwhile[says] = Math.max(lostMeanwhile[says] ?? 0, lost);
    }
    await checkReapplied(cluster);
  }
  return { slowest, lostMeanwhile };
}

/** Applies the chart again during a rotation. Checks that the rotation completes. */
async function checkReapplied(cluster: RotatingCluster): Promise<void> {
  const { context, observer, losses, replicas } = cluster;
  const issuer = observer.common()?.issuer;
  const since = Date.now();
  const nonce = await beginReplacement(cluster);
  const { client } = context;
  const { objects } = replicas.installation;
  await applyAll(client, await Promise.all(objects.map((object) => scaledAsNow(client, object))));
  await cluster.waitForDone(nonce);
  await context.check('a rotation completes although the chart is applied again during the rotation', () => {
    const leaf = observer.common();
    return leaf?.issuer !== undefined && leaf.issuer !== issuer;
  });
  await losses.checkNone('while the chart was applied again', since);
  await context.check('no replica served a certificate that the bundle does not verify', () => {
    return observer.violationsSince(since).length === 0;
  });
}

/** Requests new authorities until a rotation is in progress; returns that rotation's nonce. */
async function beginReplacement(cluster: RotatingCluster): Promise<string> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const nonce = await cluster.request('authority');
    const seen = await waitFor('the rotation to be in progress', async () => {
      const { phase = '', rotateRequest } = await cluster.status();
      if (rotateRequest?.nonce !== nonce) return undefined;
      return ['Publishing', 'Confirming'].includes(phase) ? 'in progress' : rotateRequest.state === 'Done' && 'done';
    });
    if (seen === 'in progress') return nonce;
  }
  throw new Error('each of 10 rotations ended before it was seen in progress');
}

/** Keeps the live spec.replicas. The tokens are bound to the pods that the harness asked for. */
async function scaledAsNow(client: ApiClient, object: KubernetesObject): Promise<KubernetesObject> {
  if (object.kind !== 'Deployment') return object;
  const { name = '', namespace } = object.metadata;
  const live = await client.get(resourceKind('apps/v1', 'Deployment'), name, { namespace });
  const { replicas } = live['spec'] as { replicas: number };
  return { ...object, spec: { ...(object['spec'] as object), replicas } };
}

/** Damages an object, waits for the repair, and returns its duration in milliseconds. */
async function damageAndRepair(cluster: RotatingCluster, [says, harm]: Damage, bound: number): Promise<number> {
  const trusted: Trusted = new Map();
  for (const fingerprint of bundleFingerprints(await cluster.bundle())) trusted.set(fingerprint, Infinity);
  noteRetiring(trusted, (await cluster.secret(cluster.names.authoritySecret)) ?? {});
  await harm();
  const written = Date.now();
  const last = await waitFor(`a repair of this: ${says}`, () => soundAt(cluster, trusted), { interval: 20 });
  const milliseconds = last - written;
  const still = await cluster.standstill.between(written, last);
  await cluster.context.checkNow(
    `${says}: the operator repaired this after ${milliseconds} ms, and the caBundle kept every trusted authority`,
    () => milliseconds <= bound + still,
  );
  return milliseconds;
}

/**
 * The authorities that the bundle contained before the damage, by fingerprint. The value is the
 * earliest time at which the rotation record allows their removal, in milliseconds since 1970.
 */
type Trusted = Map<string, number>;

/** Records when authorities may be removed. A damaged Secret adds nothing. */
function noteRetiring(trusted: Trusted, stored: Text): void {
  for (const { fingerprint, retireAfter } of readRotationRecord(stored['rotation.json'])?.retiring ?? []) {
    if (trusted.has(fingerprint)) trusted.set(fingerprint, retireAfter.getTime());
  }
}

/** Returns the time at which it read the objects (ms since 1970). @throws if one is damaged */
async function soundAt(cluster: RotatingCluster, trusted: Trusted): Promise<number> {
  const { names, namespace } = cluster;
  const [bundle, serving = {}, stored = {}] = await Promise.all([
    cluster.bundle(),
    cluster.secret(names.servingSecret),
    cluster.secret(names.authoritySecret),
  ]);
  const seen = Date.now();
  const pair = { certificatePem: serving['tls.crt'] ?? '', privateKeyPem: serving['tls.key'] ?? '', caPem: bundle };
  const host = serviceHostName(names.service, namespace);
  const faults = verifyServingPair(parsePair(pair), { now: new Date(), names: [host] }).map(({ message }) => message);
  noteRetiring(trusted, stored);
  const present = bundleFingerprints(bundle);
  const isMissing = [...trusted].some(([fingerprint, retireAfter]) => !present.has(fingerprint) && retireAfter > seen);
  if (isMissing) faults.push('an authority is missing from the bundle');
  faults.push(...storedFaults(stored));
  if (faults.length > 0) throw new Error(faults.join('; '));
  return seen;
}

/** Compares the certificates and keys of the authority's Secret with its rotation record. */
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
    if (certificate?.fingerprint !== record.fingerprint) return [`${name}.crt is not the certificate in the record`];
    return keyMatches(certificate.x509, stored[`${name}.key`] ?? '') ? [] : [`${name}.key has another certificate`];
  });
  return authority === undefined && staged === undefined ? ['the Secret contains no authority', ...faults] : faults;
}

type Damage = [says: string, harm: () => Promise<unknown>];

type Text = Record<string, string>;

/** Returns damage that causes no lost pods, because replicas have a valid pair in memory. */
function secretDamages(cluster: RotatingCluster): Damage[] {
  const { context, names, namespace } = cluster;
  const foreign = () => foreignCertificates(names.service, namespace);
  const half = (text = '') => text.slice(0, text.length / 2);
  const damagesOf = (
    which: string,
    name: string,
    [crt, key]: [string, string],
    foreignText: () => Promise<Text>,
  ): Damage[] => {
    const rewritten = (says: string, text: () => Promise<Text>): Damage => [
      `${which} ${says}`,
      async () => cluster.writeSecret(name, await text()),
    ];
    return [
      [`${which} is deleted`, () => context.client.delete(objectOf('v1', 'Secret', name, namespace))],
      rewritten('is truncated', async () => ({ [crt]: half((await cluster.secret(name))?.[crt]) })),
      rewritten('contains an unrelated key', async () => ({ [key]: (await foreignText())[key] ?? '' })),
      rewritten('is replaced by data from an unrelated authority', foreignText),
      rewritten('contains a pair with another algorithm', async () => {
        const pair = await ellipticPair(names.service);
        return { [crt]: pair.certificate, [key]: pair.key };
      }),
    ];
  };
  return [
    ...damagesOf(
      'the serving Secret',
      names.servingSecret,
      ['tls.crt', 'tls.key'],
      async () => (await foreign()).serving,
    ),
    ...damagesOf("the authority's Secret", names.authoritySecret, ['ca.crt', 'ca.key'], async () => {
      const { authority, authorityKey } = await foreign();
      return { 'ca.crt': authority, 'ca.key': authorityKey };
    }),
  ];
}

/** Returns damage that makes webhook calls fail until the operator has repaired it. */
function bundleDamages(cluster: RotatingCluster): Damage[] {
  const { context, names, namespace } = cluster;
  return [
    ['the caBundle is edited', async () => cluster.writeBundle((await cluster.bundle()).replaceAll('A', 'B'))],
    [
      'the caBundle contains only an unrelated authority',
      async () => cluster.writeBundle((await foreignCertificates(names.service, namespace)).authority),
    ],
    ['the caBundle is emptied', () => cluster.writeBundle('')],
    ['the webhook configuration is deleted', () => context.client.delete(webhookNamed(names.webhookConfiguration))],
  ];
}
