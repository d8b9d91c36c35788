import assert from 'node:assert/strict';
import { configurationHash } from '../../api/injector-config/configuration-hash.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { nativeSidecarsAnnotation } from '../../api/names.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { ServingCertificates } from '../../certs/serving-certificates.ts';
import { capturingLogger } from '../../kube/testdata/capturing-logger.ts';
import type { Injector } from '../../inject/injector.ts';
import { ManualClock, until } from '../../kube/testdata/manual-clock.ts';
import { configurationFiles } from '../../manifests/configuration-files.ts';
import { hashedConfigMap } from '../../manifests/desired-objects.ts';
import type { LoadConfiguration } from '../ports.ts';
import { Replica, isUnrelated } from './replica.ts';
import { MemoryCluster } from '../testdata/memory-cluster.ts';
import { injectorConfig, loadAtOnce, OperatorFixture, template } from '../testdata/operator-fixture.ts';
import { randomBytes } from 'node:crypto';
import { issueAuthority, issueServingCertificate } from '../../certs/issue-certificate.ts';
import { generateRsaKeyPair } from '../../certs/key-pair.ts';
import { randomSerialNumber } from '../../certs/random-source.ts';
import { signCertificate } from '../../certs/sign-certificate.ts';
import type { ServingPair } from '../../certs/verify-chain.ts';

function configuration(name: string, image: string): { object: KubernetesObject; hash: string } {
  const config = parseInjectorConfig(injectorConfig(name, { injection: { templates: { sidecar: template(image) } } }));
  const files = configurationFiles(config);
  const hash = configurationHash(files);
  return { object: hashedConfigMap(config, files, hash, 'injection'), hash };
}

/** Returns a Secret with a real pair, as the operator stores it. */
async function servingSecret(): Promise<KubernetesObject> {
  const fixture = new OperatorFixture();
  await fixture.start();
  fixture.cluster.put('injectorconfigs', injectorConfig('blue'));
  await fixture.reconcile('blue');
  const secret = fixture.cluster.get('secrets', 'sidecar-injector-blue-serving', 'injection')!;
  await fixture.stop();
  return secret;
}

describe('Replica', () => {
  let cluster: MemoryCluster;
  let clock: ManualClock;
  let injectors: Map<string, Injector>;
  let certificates: ServingCertificates;
  let replica: Replica;
  let load: LoadConfiguration;
  let secret: KubernetesObject;
  const logger = capturingLogger();
  const { object: one, hash: hashOne } = configuration('blue', 'one');
  before(async () => {
    secret = await servingSecret();
  });
  beforeEach(async () => {
    cluster = new MemoryCluster();
    load = loadAtOnce;
    clock = new ManualClock(Date.UTC(2026, 5, 1));
    injectors = new Map();
    certificates = new ServingCertificates();
    logger.lines.length = 0;
    await cluster.start();
    const own = { client: cluster.client, namespace: 'injection', operatorClass: 'default' };
    const parts = { injectors, certificates, clock, random: () => 0, logger };
    replica = new Replica({ ...own, ...parts, load: (files) => load(files) });
  });
  afterEach(async () => {
    replica.stop();
    await cluster.stop();
  });
  /** Returns the parts that the replica lacks to serve this configuration. */
  const lacking = (name: string, hash: string): string[] => {
    const { hashes = [], certificate } = replica.serves().get(name) ?? {};
    return [...(hashes.includes(hash) ? [] : ['injector']), ...(certificate === undefined ? ['certificate'] : [])];
  };

  const startServing = async (): Promise<void> => {
    cluster.put('configmaps', one);
    cluster.put('secrets', secret);
    replica.start();
    await until(() => lacking('blue', hashOne).length === 0);
  };

  it('loads existing and new configurations, and reports missing parts', async () => {
    cluster.put('configmaps', one);
    replica.start();
    let notified = 0;
    replica.subscribe(() => (notified += 1));
    assert.equal(replica.ready, false);
    await until(() => replica.ready && injectors.get(`blue.${hashOne}`) !== undefined);
    assert.deepEqual(lacking('blue', hashOne), ['certificate'], 'the API server requires a certificate');
    cluster.put('secrets', secret);
    await until(() => lacking('blue', hashOne).length === 0);
    const two = configuration('blue', 'two');
    assert.deepEqual(lacking('blue', two.hash), ['injector']);
    cluster.put('configmaps', two.object);
    await until(() => lacking('blue', two.hash).length === 0);
    assert.ok(notified >= 3);
    assert.notEqual(certificates.forServerName('sidecar-injector-blue.injection.svc'), undefined);
  });

  it('uses the mode of native sidecars that the leader records for a configuration of an earlier release', async () => {
    await startServing();
    const mode = () => injectors.get(`blue.${hashOne}`)?.settings.nativeSidecars;
    assert.equal(mode(), 'Auto');
    for (const recorded of ['Enabled', 'Disabled']) {
      cluster.edit('configmaps', one.metadata.name ?? '', 'injection', ({ metadata }) => {
        metadata.annotations = { [nativeSidecarsAnnotation]: recorded };
      });
      await until(() => mode() === recorded);
      assert.deepEqual(lacking('blue', hashOne), []);
    }
    const [later, others] = [new Map<string, Injector>(), { certificates, clock, random: () => 0, logger }];
    const own = { client: cluster.client, namespace: 'injection', operatorClass: 'default' };
    const second = new Replica({ ...own, ...others, injectors: later, load });
    second.start();
    await until(() => later.get(`blue.${hashOne}`)?.settings.nativeSidecars === 'Disabled');
    second.stop();
  });

  it('watches the ranges of namespaces on OpenShift only', async () => {
    const uid = 'openshift.io/sa.scc.uid-range';
    const namespace = (name: string, annotations?: Record<string, string>): KubernetesObject => {
      return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, ...(annotations && { annotations }) } };
    };
    cluster.put('namespaces', namespace('shop', { [uid]: '1000/10', team: 'a' }));
    cluster.put('namespaces', namespace('plain'));
    await startServing();
    assert.equal(replica.namespaces(), undefined);
    const own = { client: cluster.client, namespace: 'injection', operatorClass: 'default', openshift: true };
    const second = new Replica({ ...own, injectors, certificates, clock, random: () => 0, logger, load });
    second.start();
    await until(() => second.ready && second.namespaces()?.size === 1);
    const before = second.namespaces();
    assert.deepEqual([...(before ?? [])], [['shop', { annotations: { [uid]: '1000/10' } }]]);
    cluster.edit('namespaces', 'shop', undefined, ({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, team: 'b' };
    });
    cluster.edit('namespaces', 'plain', undefined, ({ metadata }) => {
      metadata.annotations = { [uid]: '2000/10' };
    });
    await until(() => second.namespaces()?.size === 2);
    cluster.remove('namespaces', 'shop');
    await until(() => second.namespaces()?.size === 1);
    second.stop();
  });

  it('is not ready until it can read the paths of all webhooks, and stays ready afterwards', async () => {
    const webhook = (path: string): KubernetesObject => {
      const labels = {
        'app.kubernetes.io/managed-by': 'sidecar-injector',
        'sidecar-injector.io/operator-class': 'default',
      };
      const webhooks = [{ name: 'rev.sidecar-injector.io', clientConfig: { service: { path } } }];
      return {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'MutatingWebhookConfiguration',
        metadata: { name: 'blue', labels },
        webhooks,
      };
    };
    cluster.put('mutatingwebhookconfigurations', webhook('/v2/of-a-newer-version'));
    cluster.put('configmaps', one);
    replica.start();
    await until(() => injectors.get(`blue.${hashOne}`) !== undefined);
    assert.equal(replica.ready, false);
    cluster.put('mutatingwebhookconfigurations', webhook(`/revisions/blue/${hashOne}/inject`));
    await until(() => replica.ready);
    cluster.put('mutatingwebhookconfigurations', webhook('/v2/of-a-newer-version'));
    assert.equal(replica.ready, true);
  });

  it('is ready only after it has loaded all existing configurations', async () => {
    for (const image of ['a', 'b', 'c', 'd']) cluster.put('configmaps', configuration('blue', image).object);
    replica.start();
    await until(() => replica.ready);
    assert.equal(injectors.size, 4);
  });

  it('retries a failed load, and is not ready until the load succeeds', async () => {
    let tries = 0;
    load = (files) => (++tries < 3 ? Promise.reject(new Error('no process')) : loadAtOnce(files));
    cluster.put('configmaps', one);
    replica.start();
    for (const turn of [1, 2]) {
      await until(() => tries === turn && clock.pending().includes(5000));
      assert.equal(replica.ready, false);
      await clock.advance(5000);
    }
    await until(() => replica.ready);
    assert.notEqual(injectors.get(`blue.${hashOne}`), undefined);
  });

  it('refuses a configuration that has a wrong hash or does not compile', async () => {
    const tampered = structuredClone(one);
    (tampered.data as Record<string, string>).values = '{"evil":true}';
    cluster.put('configmaps', tampered);
    const broken = configuration('green', '{{ nope }}');
    cluster.put('configmaps', broken.object);
    replica.start();
    await until(() => replica.ready);
    assert.equal(injectors.size, 0);
    const errors = logger.lines.filter(({ level }) => level === 'error').map(({ message }) => message);
    assert.deepEqual(errors.sort(), [
      'a configuration cannot be loaded',
      'a configuration does not match the hash in its label and is not loaded',
    ]);
  });

  it('serves deleted configurations and certificates for 15 s, then unloads them', async () => {
    await startServing();
    cluster.remove('configmaps', one.metadata.name!, 'injection');
    cluster.remove('secrets', secret.metadata.name!, 'injection');
    await until(() => clock.pending().filter((delay) => delay === 15_000).length === 2);
    await clock.advance(14_999);
    assert.deepEqual(lacking('blue', hashOne), []);
    await clock.advance(1);
    assert.equal(injectors.size, 0);
    assert.equal(certificates.defaultPair(), undefined);
  });

  it('serves the new pair of an InjectorConfig that was deleted and recreated, even from an unrelated authority', async () => {
    await startServing();
    const before = certificates.defaultPair();
    cluster.remove('configmaps', one.metadata.name!, 'injection');
    cluster.remove('secrets', secret.metadata.name!, 'injection');
    await until(() => clock.pending().filter((delay) => delay === 15_000).length === 2);
    assert.equal(certificates.defaultPair(), before);
    cluster.put('secrets', { ...secret, data: (await servingSecret()).data });
    await until(() => certificates.defaultPair()?.fingerprint !== before?.fingerprint);
  });

  it('unloads a configuration only if newer configurations exist', async () => {
    await startServing();
    cluster.remove('configmaps', one.metadata.name!, 'injection');
    await until(() => clock.pending().includes(15_000));
    await clock.advance(15_000);
    assert.deepEqual(lacking('blue', hashOne), [], 'the webhook may still name the configuration');
    const others = ['two', 'three', 'four'].map((image) => configuration('blue', image));
    for (const { object } of [...others, configuration('blue', 'five')]) cluster.put('configmaps', object);
    await until(() => injectors.size === 5);
    cluster.remove('configmaps', configuration('blue', 'five').object.metadata.name!, 'injection');
    await until(() => clock.pending().includes(15_000));
    await clock.advance(15_000);
    assert.deepEqual([...injectors.keys()].sort(), others.map(({ hash }) => `blue.${hash}`).sort());
  });

  it('keeps a configuration whose ConfigMap is recreated within 15 s', async () => {
    await startServing();
    cluster.remove('configmaps', one.metadata.name!, 'injection');
    await until(() => clock.pending().includes(15_000));
    cluster.put('configmaps', { ...one, metadata: { ...one.metadata, uid: 'again' } });
    await until(() => replica.ready);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await clock.advance(15_000);
    assert.deepEqual(lacking('blue', hashOne), []);
  });

  it('serves the last good pair when only the Secret is damaged or deleted', async () => {
    await startServing();
    const pair = certificates.defaultPair();
    cluster.edit('secrets', secret.metadata.name!, 'injection', (object) => {
      (object.data as Record<string, string>)['tls.key'] = '';
    });
    await until(() => logger.lines.some(({ message }) => message.startsWith('a serving certificate cannot be used')));
    assert.ok(!JSON.stringify(logger.lines).includes('PRIVATE KEY'));
    cluster.remove('secrets', secret.metadata.name!, 'injection');
    await until(() => clock.pending().includes(15_000));
    await clock.advance(15_000);
    assert.equal(certificates.defaultPair(), pair);
    assert.deepEqual(lacking('blue', hashOne), []);
  });

  it('uses an unrelated pair only if the leader does not repair the Secret within 3 s', async () => {
    await startServing();
    const pair = certificates.defaultPair();
    const unrelated = (await servingSecret()).data;
    const warned = (): number => logger.lines.filter(({ level }) => level === 'warn').length;
    const write = (data: unknown): void => {
      cluster.edit('secrets', secret.metadata.name!, 'injection', (object) => {
        object.data = data;
      });
    };
    write(unrelated);
    await until(() => warned() === 1);
    write(secret.data);
    await clock.advance(3000);
    assert.equal(certificates.defaultPair()?.fingerprint, pair?.fingerprint, 'the Secret was repaired in time');
    write(unrelated);
    await until(() => warned() === 2);
    assert.equal(certificates.defaultPair()?.fingerprint, pair?.fingerprint);
    await clock.advance(3000);
    assert.notEqual(
      certificates.defaultPair()?.fingerprint,
      pair?.fingerprint,
      'the replica may have missed a rotation',
    );
  });

  it('caches the kubelet versions of nodes', async () => {
    const node = (name: string, kubeletVersion?: string): KubernetesObject => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      status: { images: ['large'], ...(kubeletVersion === undefined ? {} : { nodeInfo: { kubeletVersion } }) },
    });
    cluster.put('nodes', node('a', 'v1.36.0'));
    replica.start();
    assert.deepEqual(replica.nodes(), []);
    await until(() => replica.nodes().length === 1);
    cluster.put('nodes', node('b'));
    await until(() => replica.nodes().length === 2);
    assert.deepEqual(replica.nodes(), [
      { name: 'a', kubeletVersion: 'v1.36.0' },
      { name: 'b', kubeletVersion: '' },
    ]);
    assert.equal(replica.nodes(), replica.nodes(), 'the same list object while nothing changes');
  });
});

const now = new Date('2026-03-01T00:00:00Z');
const hour = 3_600_000;

describe('isUnrelated', () => {
  let old: ServingPair;
  let other: ServingPair;
  /** A pair whose leaf is signed by an intermediate of the authority. */
  let chained: ServingPair;
  before(async () => {
    const keys = await generateRsaKeyPair(2048);
    const names = { service: 'blue', namespace: 'injection' };
    const issue = (): ServingPair => {
      const authority = issueAuthority('blue', keys, { now, duration: 24 * hour, random: randomBytes });
      const leaf = issueServingCertificate(authority, names, keys, { now, duration: hour, random: randomBytes });
      return { ...leaf, caPem: authority.certificatePem };
    };
    [old, other] = [issue(), issue()];
    const validity = { notBefore: new Date(now.getTime() - hour), notAfter: new Date(now.getTime() + 24 * hour) };
    const extensions = [{ name: 'basicConstraints', critical: true, cA: true }];
    const authorityNamed = (commonName: string, signer: Parameters<typeof signCertificate>[1]): string => {
      const subject = { organizationName: 'company', commonName };
      const signed = { serialNumber: randomSerialNumber(randomBytes), subject, ...validity, extensions };
      return signCertificate({ ...signed, publicKeyPem: keys.publicKeyPem }, signer);
    };
    const root = authorityNamed('root', keys);
    const { privateKeyPem } = keys;
    const certificatePem = authorityNamed('intermediate', { certificatePem: root, privateKeyPem });
    const intermediate = { certificatePem, privateKeyPem };
    const leaf = issueServingCertificate(intermediate, names, keys, { now, duration: hour, random: randomBytes });
    chained = { ...leaf, certificatePem: leaf.certificatePem + intermediate.certificatePem, caPem: root };
  });

  const early = new Date(now.getTime() - 48 * hour);
  const joined = (): ServingPair => ({ ...other, caPem: other.caPem + old.caPem });
  const cases: [string, () => [ServingPair, ServingPair | undefined, Date], boolean][] = [
    ['the first pair', () => [old, undefined, now], false],
    ['a pair whose bundle verifies the certificate in memory', () => [joined(), old, now], false],
    ['a pair from another authority', () => [other, old, now], true],
    ['a pair whose bundle verifies an intermediate in memory', () => [chained, chained, now], false],
    ['a pair from an authority that did not issue the chain in memory', () => [other, chained, now], true],
    [
      'a pair from another authority after the certificate in memory has expired',
      () => [other, old, new Date(now.getTime() + hour)],
      false,
    ],
    ['a pair from another authority while the clock is slow', () => [other, old, early], true],
    ['the pair in memory while the clock is slow', () => [old, old, early], false],
  ];
  for (const [title, input, expected] of cases) {
    it(`returns ${expected} for ${title}`, () => {
      assert.equal(isUnrelated(...input()), expected);
    });
  }
});
