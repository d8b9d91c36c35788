import { z } from 'zod';
import {
  choice,
  configMapKeyPattern,
  dnsLabel,
  dnsSubdomainPattern,
  duration,
  flag,
  signerNamePattern,
  whole,
  optional,
  optionalObject,
  text,
  conditionsSchema,
  optionalTime,
} from '../kubernetes/field-types.ts';
import { injectionSchema } from './injection-schema.ts';
import type { KubernetesObject, ObjectMeta } from '../kubernetes/kubernetes.ts';
import { webhookSchema } from './webhook-schema.ts';
import { usageStatusFields } from './usage-status.ts';

const certificateSchema = z.object({
  provider: choice(
    ['SelfSigned', 'Secret', 'CertificateSigningRequest', 'CertManager'],
    'SelfSigned',
    'The source of the serving certificate. SelfSigned: an authority that the operator creates for this revision. Secret: the Secret in secretRef. CertificateSigningRequest: the signer in signerName. CertManager: an issuer or Certificate of cert-manager.',
  ),
  secretRef: optionalObject(
    'For provider Secret: a Secret that contains the certificate followed by its intermediates (tls.crt), the key (tls.key) and the authority (ca.crt). The operator watches the Secret and uses new versions of it.',
    {
      name: text(253, dnsSubdomainPattern, 'must be the name of a Secret').describe(
        "The name of the Secret, in the operator's namespace.",
      ),
    },
  ),
  signerName: optional(
    text(571, signerNamePattern, 'must be DOMAIN/NAME with a dot in DOMAIN, e.g. example.com/serving'),
    'For provider CertificateSigningRequest: the signer (certificates.k8s.io/v1), for example beta.eks.amazonaws.com/app-serving.',
  ),
  expirationSeconds: optional(
    whole(600, 2_147_483_647),
    'For provider CertificateSigningRequest: the requested validity of the certificate, in seconds. The signer may issue another validity.',
  ),
  issuerRef: optionalObject(
    'For provider CertManager: the issuer of a Certificate that the operator manages in its own namespace. The Certificate has duration leafDuration and is renewed at renewalFraction.',
    {
      name: text(253, dnsSubdomainPattern, 'must be the name of an issuer').describe('The name of the issuer.'),
      kind: z
        .string()
        .min(1)
        .max(63)
        .default('Issuer')
        .describe('The kind of the issuer: Issuer, ClusterIssuer, or a kind of another API group.'),
      group: text(253, dnsSubdomainPattern, 'must be an API group')
        .default('cert-manager.io')
        .describe('The API group of the issuer.'),
    },
  ),
  certificateRef: optionalObject(
    'For provider CertManager: an existing Certificate. The operator watches the Secret of the Certificate and uses new versions of it.',
    {
      name: text(253, dnsSubdomainPattern, 'must be the name of a Certificate').describe(
        "The name of the Certificate, in the operator's namespace.",
      ),
    },
  ),
  caBundle: optional(
    z.string().max(65_536),
    'For providers CertificateSigningRequest and CertManager: trusted certificate authorities, as PEM or base64-encoded PEM. The authority that verifies the serving certificate becomes the caBundle of the webhooks.',
  ),
  caBundleFrom: optionalObject(
    'A reference to the trusted authorities, for example key ca.crt of ConfigMap kube-root-ca.crt. The operator watches the object and uses new versions of it. Mutually exclusive with caBundle.',
    {
      kind: choice(['ConfigMap', 'Secret'], 'ConfigMap', 'The kind of the object.'),
      name: text(253, dnsSubdomainPattern, 'must be the name of a ConfigMap or Secret').describe(
        "The name of the object, in the operator's namespace.",
      ),
      key: text(253, configMapKeyPattern, 'must be a key: letters, digits, -, _ and .')
        .default('ca.crt')
        .describe('The key in the data of the object.'),
    },
  ),
  leafDuration: duration().default('168h').describe('The validity of a serving certificate.'),
  caDuration: duration().default('8760h').describe('The validity of the authority.'),
  renewalFraction: z
    .number()
    .default(0.667)
    .describe('The fraction of its validity after which a certificate is renewed, from 0.1 to 0.9.'),
  confirmationPeriod: duration()
    .default('60s')
    .describe(
      'The minimum time that a new authority is in every caBundle before replicas serve a certificate that it signed. At least 10s.',
    ),
  keySize: z.literal([2048, 3072, 4096]).default(2048).describe('The size of the RSA keys, in bits.'),
});

export const group = 'sidecar-injector.io';
export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;
export const injectorConfigKind = 'InjectorConfig';
export const injectorConfigPlural = 'injectorconfigs';
/** The operator class of operators and objects that set no class. */
export const defaultOperatorClass = 'default';

export const injectorConfigSpecSchema = z.object({
  revision: optional(
    dnsLabel(),
    'The name by which namespaces and pods select this injector. Defaults to metadata.name. Immutable.',
  ),
  paused: flag(
    'The kill switch. When true, the operator removes the webhooks, so pods start without sidecars, and does not repair other objects.',
  ),
  operatorClass: dnsLabel(40)
    .default(defaultOperatorClass)
    .describe(
      'The class of the operator that manages this object. Operators ignore objects of other classes. Immutable.',
    ),
  injection: injectionSchema.prefault({}).describe('The content to inject, and which of the selected pods receive it.'),
  webhook: webhookSchema.prefault({}).describe('The pods that the webhook selects, and how the API server calls it.'),
  certificate: certificateSchema.prefault({}).describe('The authority and serving certificate of the webhook.'),
});

/** `spec` with all defaults. */
export type InjectorConfigSpec = z.output<typeof injectorConfigSpecSchema>;
/** `status`. A field is absent if the operator has not set it. */
export type InjectorConfigStatus = z.output<typeof injectorConfigStatusSchema>;

export interface Resource<Kind extends string, Spec, Status> extends KubernetesObject {
  apiVersion: typeof apiVersion;
  kind: Kind;
  metadata: ObjectMeta & { name: string };
  spec: Spec;
  status?: Status;
}

/** An InjectorConfig with defaults; cluster-scoped. */
export type InjectorConfig = Resource<typeof injectorConfigKind, InjectorConfigSpec, InjectorConfigStatus>;

/** Returns the revision of an InjectorConfig: spec.revision, or its name. */
export function revisionOf(config: Pick<InjectorConfig, 'metadata' | 'spec'>): string {
  return config.spec.revision ?? config.metadata.name;
}

export const injectorConfigStatusSchema = z.object({
  observedGeneration: optional(z.int().min(0), 'The metadata.generation that this status describes.'),
  revision: optional(z.string().max(63), 'The revision of the injector.'),
  conditions: conditionsSchema('The conditions Ready, TemplatesValid, CertificateReady, WebhookReady and others.'),
  config: optionalObject('The published configuration.', {
    hash: optional(z.string().max(64), 'The hash of the configuration in the path of the webhook.'),
    servedBy: optional(z.int().min(0), 'The number of live replicas that serve this configuration.'),
    refused: optional(
      z.string().max(64),
      'The hash of the desired configuration, if it exceeds a limit; condition TemplatesValid names the limit. The operator does not try this configuration again until it changes.',
    ),
  }),
  certificate: optionalObject('The serving certificate.', {
    notAfter: optionalTime('The time at which the serving certificate expires.'),
    renewAt: optionalTime('The time of the next renewal.'),
    fingerprint: optional(z.string().max(128), 'The SHA-256 of the serving certificate, in hex.'),
    caNotAfter: optionalTime('The time at which the authority expires.'),
    phase: optional(z.string().max(64), 'The phase of the rotation.'),
    rotateRequest: optionalObject(
      'The result of the latest request for a renewal (annotation sidecar-injector.io/rotate).',
      {
        nonce: z.string().max(63).describe('The nonce of the request.'),
        state: z.enum(['Accepted', 'Done', 'Refused']).describe('The progress of the request.'),
        message: optional(z.string().max(1024), 'The reason why the request was refused.'),
      },
    ),
  }),
  ...usageStatusFields,
});
