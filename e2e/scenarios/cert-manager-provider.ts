import { objectNames } from '../../src/api/names.ts';
import { parseBundle } from '../../src/certs/read-certificate.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { applyObject, isGone, objectOf } from '../harness/apply.ts';
import { type CertManager, prepareCertManager } from '../harness/cert-manager.ts';
import { checkCondition, deleteForced } from '../harness/injector-configs.ts';
import { markedConfig } from '../harness/load/marked-config.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { shortTerms, startRotatingCluster, type RotatingCluster } from '../harness/tls-observer/rotating-cluster.ts';
import { waitFor } from '../harness/wait-for.ts';
import { webhookNamed, webhooks } from '../harness/webhook-configurations.ts';
import { checkLeafBeforeBundle, takeOver } from './rotation-under-load/wrong-orders.ts';

const name = 'managed';
const own = objectNames(name).certificate;
const renewals = 5;
const provider = 'CertManager';
const issued = { ...shortTerms, provider, issuerRef: { name: 'e2e' } };

export const certManagerProvider: Scenario = {
  name: 'cert-manager-provider',
  about:
    "cert-manager's controllers issue certificates under load; no pod is lost during five renewals, a new root, a dead controller and a deleted Secret; conditions name each missing object, and name cainjector as another writer of the caBundle",
  run: async (context) => {
    const certManager = await prepareCertManager(context);
    const cluster = await startRotatingCluster(context, {
      name,
      certificate: issued,
      ...{ webhooks: 2, controllers: 1, perSecond: context.size === 'full' ? 20 : 10 },
      values: { operator: { certManager: true } },
      before: (namespace) => checkComesLater(context, certManager, namespace),
    });
    const { losses, observer, namespace } = cluster;
    const lostAtOnce = await takeOver(cluster, () => checkLeafBeforeBundle(cluster));

    const since = Date.now();
    const handshakes = observer.handshakes;
    for (let count = 0; count < renewals; count++) await renewed(cluster, () => certManager.renew(own, namespace));
    await losses.checkNone(`during ${renewals} renewals`, since);
    const root = await certManager.issuer('e2e', namespace);
    await renewed(cluster, () => certManager.renew(own, namespace));
    await context.check('replicas serve a certificate of the new root, and both roots are trusted', async () => {
      const trusted = parseBundle(await cluster.bundle()).map(({ pem }) => pem);
      return trusted.includes(root) && trusted.length >= 2;
    });
    await losses.checkNone('during the change to a new root', since);
    await checkDead(cluster, certManager);
    await checkReferred(cluster, certManager);
    const created = await losses.checkNone('during the whole scenario', since);
    await cluster.checkNoViolations(
      `the live bundle verified the certificate of each of the observer's ${observer.handshakes - handshakes} handshakes`,
      since,
    );
    // This check is last: the API server accepts a leaf as a root, but the observer does not.
    await checkSelfSigned(cluster, certManager);
    const writes = await checkCainjector(cluster, certManager);
    await cluster.load.stop();
    await checkRemoval(cluster);
    context.measured({ created, lost: 0, lostAtOnce, renewals, writes });
    return `${renewals} renewals, a new root, a dead controller, a deleted Secret: 0 of ${created} pods lost (${lostAtOnce} more while replicas served a certificate that was not trusted yet)`;
  },
};

/** Creates an InjectorConfig before cert-manager and the issuer exist. Checks the conditions. */
async function checkComesLater(context: ScenarioContext, certManager: CertManager, namespace: string): Promise<void> {
  const { client } = context;
  const says = saysOf(context, 'early');
  await applyObject(client, markedConfig('early', 'one', { certificate: issued }));
  await says(
    'cert-manager is not installed',
    /^False \(CertManagerMissing\) spec\.certificate\.issuerRef: .*no certificate is served$/,
  );
  await certManager.define();
  await says(
    "cert-manager's controller does not run",
    /^False \(CertificatePending\) .*injector-certificate-early .*check that it runs/,
  );
  certManager.controller.start();
  await says('the issuer does not exist', /^False \(CertificatePending\) .*(Issuing|Ready) is /);
  await certManager.issuer('e2e', namespace);
  await checkCondition(context, 'early', 'Ready', 'replicas serve a certificate from the issuer', /^True/);
  await deleteForced(client, markedConfig('early', 'one'));
}

/** Returns a function that checks the condition CertificateReady of an InjectorConfig. */
function saysOf(context: ScenarioContext, config: string) {
  return (text: string, expected: RegExp) => checkCondition(context, config, 'CertificateReady', text, expected);
}

/** Causes a renewal, and waits until every replica serves the new certificate. */
async function renewed({ observer }: RotatingCluster, act: () => Promise<unknown>): Promise<void> {
  const before = observer.common();
  await act();
  await observer.waitForOther(before);
}

/** Checks that replicas keep their certificate while controller and Secret are missing. */
async function checkDead(cluster: RotatingCluster, { controller }: CertManager): Promise<void> {
  const { context, observer, losses, namespace } = cluster;
  const since = Date.now();
  const before = observer.common();
  await controller.kill();
  const secret = objectOf('v1', 'Secret', own, namespace);
  await context.client.patch(secret, 'merge', { data: { 'ca.crt': null } });
  const says = saysOf(context, name);
  await says('the Secret has no ca.crt', /^False \(KeyMissing\) .*caBundleFrom or caBundle; the previous certificate/);
  await context.client.delete(secret);
  await says('the Secret does not exist', /^False \(CertificatePending\) .*is still served$/);
  await observer.waitForRound();
  await context.checkNow('every replica still serves the previous certificate', () => observer.common() === before);
  controller.start();
  await observer.waitForOther(before);
  await losses.checkNone("while cert-manager's controller was dead and the Secret was deleted", since);
}

/** Checks `certificateRef`, which names a user's Certificate, with a root in a ConfigMap. */
async function checkReferred(cluster: RotatingCluster, certManager: CertManager): Promise<void> {
  const { context, losses, namespace, names } = cluster;
  const { client } = context;
  const since = Date.now();
  const root = await certManager.issuer('theirs', namespace);
  const write = (dnsName: string) =>
    applyObject(client, {
      ...objectOf('cert-manager.io/v1', 'Certificate', 'theirs', namespace),
      spec: { secretName: 'theirs-tls', dnsNames: [dnsName], issuerRef: { name: 'theirs' } },
    });
  const refer = { ...shortTerms, provider, certificateRef: { name: 'theirs' }, caBundleFrom: { name: 'theirs-root' } };
  await applyObject(client, markedConfig(name, 'one', { certificate: refer }));
  const says = saysOf(context, name);
  await says(
    'the ConfigMap is missing',
    /^False \(TrustMissing\) spec\.certificate\.caBundleFrom: ConfigMap .*theirs-root does not exist/,
  );
  await applyObject(client, { ...objectOf('v1', 'ConfigMap', 'theirs-root', namespace), data: { 'ca.crt': root } });
  await says(
    'the Certificate is missing',
    /^False \(CertificateMissing\) spec\.certificate\.certificateRef: Certificate .*theirs does not exist/,
  );
  await write('elsewhere.example.com');
  await says(
    'the Certificate is for another host name',
    /^False \(NameMissing\) .*alternative name sidecar-injector-managed\..*\.svc; the previous certificate/,
  );
  await renewed(cluster, () => write(`${names.service}.${namespace}.svc`));
  await context.check('the Certificate and Secret that the operator created are deleted', async () => {
    const isSecretGone = await isGone(client, resourceKind('v1', 'Secret'), own, { namespace });
    return isSecretGone && isGone(client, resourceKind('cert-manager.io/v1', 'Certificate'), own, { namespace });
  });
  await losses.checkNone("during the switch to the user's Certificate", since);
}

/** Checks an issuer of self-signed certificates: each renewal brings a new root. */
async function checkSelfSigned(cluster: RotatingCluster, certManager: CertManager): Promise<void> {
  const { context, namespace, losses } = cluster;
  const since = Date.now();
  const issuer = objectOf('cert-manager.io/v1', 'Issuer', 'itself', namespace);
  await applyObject(context.client, { ...issuer, spec: { selfSigned: {} } });
  const certificate = { ...shortTerms, provider, issuerRef: { name: 'itself' } };
  await renewed(cluster, () => applyObject(context.client, markedConfig(name, 'one', { certificate })));
  await renewed(cluster, () => certManager.renew(own, namespace));
  await losses.checkNone('during the switch to a self-signed issuer and a renewal', since);
}

/** Makes cainjector overwrite our CA bundle. Checks conditions. Returns the number of repairs. */
async function checkCainjector(cluster: RotatingCluster, { cainjector }: CertManager): Promise<number> {
  const { context, namespace, names, audit, replicas } = cluster;
  const { client } = context;
  const webhook = webhookNamed(names.webhookConfiguration);
  const annotate = (value: string | null) =>
    client.patch(webhook, 'merge', { metadata: { annotations: { 'cert-manager.io/inject-ca-from': value } } });
  const before = await cluster.bundle();
  cainjector.start();
  const since = Date.now();
  await annotate(`${namespace}/theirs`);
  const line = `kubectl annotate mutatingwebhookconfiguration ${names.webhookConfiguration} cert-manager\\.io/inject-ca-from-`;
  await checkCondition(
    context,
    name,
    'Conflict',
    'cainjector writes its own authority into the caBundle',
    new RegExp(`^True \\(CainjectorWrites\\) .*cainjector.* also writes .*${line}`),
  );
  await checkCondition(context, name, 'Ready', 'cainjector also writes the caBundle', /^False \(CainjectorWrites\)/);
  await waitFor('five seconds to pass', () => Date.now() - since > 5000);
  await annotate(null);
  const seconds = (Date.now() - since) / 1000;
  const ours = audit
    .writesBy(replicas.installation.username)
    .filter(({ objectRef, stageTimestamp, responseStatus }) => {
      const isDone = (responseStatus?.code ?? 0) < 300 && Date.parse(stageTimestamp) >= since;
      return isDone && objectRef?.name === names.webhookConfiguration;
    });
  await context.checkNow(
    `the operator repaired the caBundle ${ours.length} times in ${seconds.toFixed(1)} s, so at most once per second`,
    () => ours.length > 1 && ours.length <= seconds + 1,
  );
  await context.check(
    "the caBundle contains the operator's bundle after the annotation is removed",
    async () => (await cluster.bundle()) === before,
  );
  await cluster.waitForCalm();
  await cainjector.kill();
  return ours.length;
}

async function checkRemoval({ context, namespace }: RotatingCluster): Promise<void> {
  const { client } = context;
  await deleteForced(client, markedConfig(name, 'one'));
  await context.check('no Certificate, Secret or webhook remains after the InjectorConfig is deleted', async () => {
    const objects = await Promise.all([
      client.find(resourceKind('cert-manager.io/v1', 'Certificate'), own, { namespace }),
      client.find(resourceKind('v1', 'Secret'), own, { namespace }),
      client.find(webhooks, objectNames(name).webhookConfiguration),
    ]);
    return objects.every((each) => each === undefined);
  });
}
