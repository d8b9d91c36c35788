import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { issueAuthority, issueServingCertificate } from '../../certs/issue-certificate.ts';
import { generateRsaKeyPair, type CertifiedKey } from '../../certs/key-pair.ts';
import { parseBundle, readChain } from '../../certs/read-certificate.ts';
import { certificateReport, type CertificateObservation } from './certificate-report.ts';
import type { ReadConfig } from './read-certificates.ts';

const now = new Date('2026-03-01T00:00:00Z');
const day = 86_400_000;
const names = { service: 'sidecar-injector-a', namespace: 'injector' };
const service = { name: names.service, namespace: names.namespace };

describe('certs status', () => {
  let authority: CertifiedKey;
  let other: CertifiedKey;
  let leaf: string;
  let shortLived: string;
  before(async () => {
    const keys = await generateRsaKeyPair(2048);
    const options = { now, duration: 30 * day, random: randomBytes };
    authority = issueAuthority('one', keys, options);
    other = issueAuthority('other', keys, options);
    leaf = issueServingCertificate(authority, names, keys, { ...options, duration: 7 * day }).certificatePem;
    shortLived = issueServingCertificate(authority, names, keys, { ...options, duration: day }).certificatePem;
  });

  const fingerprint = (): string => readChain(leaf)[0].fingerprint;
  const short = (pem: string): string => readChain(pem)[0].fingerprint.slice(0, 8);

  /** Returns a webhook configuration with one webhook per bundle. */
  function configuration(bundles: readonly string[], target: object = { service }): KubernetesObject {
    const ours = bundles.map((bundle, index) => {
      const clientConfig = { caBundle: Buffer.from(bundle).toString('base64'), ...target };
      return { name: `w${index}.sidecar-injector.io`, clientConfig };
    });
    return {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'sidecar-injector-a' },
      webhooks: [{ name: 'foreign.example.com', clientConfig: { caBundle: '' } }, ...ours],
    };
  }

  function observation(changed: Partial<CertificateObservation> = {}): CertificateObservation {
    const config = {
      metadata: { name: 'a' },
      status: {
        conditions: [condition('CertificateReady', 'True')],
        certificate: { phase: 'Stable', fingerprint: fingerprint(), renewAt: '2026-03-05T00:00:00Z' },
      },
    } as ReadConfig;
    return {
      config,
      configurations: [configuration([authority.certificatePem, authority.certificatePem + other.certificatePem])],
      chain: parseBundle(leaf),
      replicas: new Map([['r1', fingerprint()]]),
      now,
      ...changed,
    };
  }

  it('reports the serving certificate, and the authorities that every webhook trusts', () => {
    const { name, phase, bundles, notAfter, problems, replicas } = certificateReport(observation());
    assert.deepEqual(problems, []);
    assert.deepEqual([name, phase, notAfter], ['a', 'Stable', '2026-03-08T00:00:00Z']);
    assert.deepEqual(replicas, { r1: fingerprint().slice(0, 8) });
    const authorities = [short(authority.certificatePem)];
    assert.deepEqual(bundles, [{ configuration: 'sidecar-injector-a', webhooks: 2, authorities }]);
  });

  const after = (days: number): Date => new Date(now.getTime() + days * day);
  const serving = (served: string | undefined) => ({ replicas: new Map([['r2', served]]) });
  const rows: [string, () => Partial<CertificateObservation>, RegExp][] = [
    ['an object without status', () => ({ config: { metadata: { name: 'a' } } }), /no operator has reconciled this/],
    [
      'a bundle with another authority',
      () => ({ configurations: [configuration([other.certificatePem])] }),
      /sidecar-injector-a: the API server refuses the certificate: no valid chain/,
    ],
    ['an empty bundle', () => ({ configurations: [configuration([''])] }), /the API server refuses/],
    ['a leaf that has expired', () => ({ now: after(8) }), /has expired: check that the operator is running/],
    [
      'a leaf that is not renewed',
      () => ({ now: after(5.3) }),
      /should have been renewed at 2026-03-05T00:00:00Z and expires at 2026-03-08T00:00:00Z/,
    ],
    ['a missing Secret', () => ({ chain: undefined }), /there is no Secret sidecar-injector-a-serving/],
    ['a serving Secret without a certificate', () => ({ chain: [] }), /contains no certificate/],
    [
      'a Secret that cannot be read',
      () => ({ chain: undefined, unreadable: 'the serving Secret was not read: x' }),
      /was not read/,
    ],
    ['a replica with an old certificate', () => serving('ab'.repeat(32)), /replica r2 serves abababab, not /],
    ['a replica without a certificate', () => serving(undefined), /replica r2 serves no certificate/],
    [
      'a condition that is False',
      () => ({ config: withCondition('CertificateReady', 'False') }),
      /CertificateReady is False \(Why\): what/,
    ],
    ['another client', () => ({ config: withCondition('Conflict', 'True') }), /writes the same objects: what/],
  ];
  for (const [name, changed, problem] of rows) {
    it(`reports ${name}`, () => {
      assert.match(certificateReport(observation(changed())).problems.join('\n'), problem);
    });
  }

  it('allows time for the renewal of a short-lived certificate', () => {
    const { config } = observation();
    const certificate = { ...config.status?.certificate, renewAt: '2026-03-01T16:00:00Z' } as const;
    const renewed = { ...config, status: { ...config.status, certificate } };
    const replicas = new Map<string, string>();
    const overdue = { config: renewed, chain: parseBundle(shortLived), now: after(0.75), replicas };
    assert.deepEqual(certificateReport(observation(overdue)).problems, []);
  });

  it('verifies the host of a url if there is no Service', () => {
    const byUrl = configuration([authority.certificatePem], { url: 'https://elsewhere.example/x' });
    const { problems } = certificateReport(observation({ configurations: [byUrl] }));
    assert.match(problems.join('\n'), /not valid for "elsewhere.example"/);
  });

  function withCondition(type: string, status: 'True' | 'False'): ReadConfig {
    const { config } = observation();
    return { ...config, status: { ...config.status, conditions: [condition(type, status)] } };
  }

  function condition(type: string, status: 'True' | 'False') {
    return { type, status, reason: 'Why', message: 'what', lastTransitionTime: '' };
  }
});
