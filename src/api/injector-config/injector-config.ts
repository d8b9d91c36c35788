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
  optionalObject,
  text,
  conditionsSchema,
  optionalTime,
} from '../kubernetes/field-types.ts';
import { injectionSchema } from './injection-schema.ts';
import type { KubernetesObject, ObjectMeta } from '../kubernetes/kubernetes.ts';
import { webhookSchema } from './webhook-schema.ts';
import { usageStatusFields } from './usage-status.ts';

/** `spec.certificate`: the authority and the serving certificate of the webhook. */
const certificateSchema = z.object({
  provider: choice(
    ['SelfSigned', 'Secret', 'CertificateSigningRequest', 'CertManager'],
    'SelfSigned',
    'Where the serving certificate comes from: SelfSigned is an authority that the operator keeps for this revision, Secret the Secret that secretRef names, CertificateSigningRequest the signer that signerName names, CertManager an issuer or a Certificate of cert-manager.',
  ),
  secretRef: optionalObject(
    'With provider Secret: certificate (tls.crt, then intermediates), key (tls.key) and authority (ca.crt) of your own. It is followed.',
    {
      name: text(253, dnsSubdomainPattern, 'must be the name of a Secret').describe(
        "Name of the Secret, in the operator's own namespace.",
      ),
    },
  ),
  signerName: text(571, signerNamePattern, 'must be DOMAIN/NAME with a dot in DOMAIN, e.g. example.com/serving')
    .exactOptional()
    .describe(
      'With provider CertificateSigningRequest: the signer (certificates.k8s.io/v1), e.g. beta.eks.amazonaws.com/app-serving.',
    ),
  expirationSeconds: whole(600, 2_147_483_647)
    .exactOptional()
    .describe(
      'With provider CertificateSigningRequest: for how long a certificate is asked, in seconds; the signer may decide otherwise.',
    ),
  issuerRef: optionalObject(
    'With provider CertManager: the issuer of a Certificate that the operator keeps in its own namespace. Its duration is leafDuration, renewed at renewalFraction.',
    {
      name: text(253, dnsSubdomainPattern, 'must be the name of an issuer').describe('Name of the issuer.'),
      kind: z.string().min(1).max(63).default('Issuer').describe('Issuer, ClusterIssuer, or a kind of another group.'),
      group: text(253, dnsSubdomainPattern, 'must be an API group')
        .default('cert-manager.io')
        .describe('API group of the issuer.'),
    },
  ),
  certificateRef: optionalObject(
    'With provider CertManager: a Certificate of your own. The Secret that it writes is followed.',
    {
      name: text(253, dnsSubdomainPattern, 'must be the name of a Certificate').describe(
        "Name of the Certificate, in the operator's own namespace.",
      ),
    },
  ),
  caBundle: z
    .string()
    .max(65_536)
    .exactOptional()
    .describe(
      'The authorities that are trusted, PEM or base64 of PEM, with provider CertificateSigningRequest or CertManager. Of these, the one that verifies the certificate goes into the webhooks.',
    ),
  caBundleFrom: optionalObject(
    'A key that holds the authorities, instead of caBundle, e.g. ca.crt of ConfigMap kube-root-ca.crt. It is followed.',
    {
      kind: choice(['ConfigMap', 'Secret'], 'ConfigMap', 'What holds them.'),
      name: text(253, dnsSubdomainPattern, 'must be the name of a ConfigMap or Secret').describe(
        "Its name, in the operator's own namespace.",
      ),
      key: text(253, configMapKeyPattern, 'must be a key: letters, digits, -, _ and .')
        .default('ca.crt')
        .describe('Key in its data.'),
    },
  ),
  leafDuration: duration().default('168h').describe('How long a serving certificate is valid.'),
  caDuration: duration().default('8760h').describe('How long the authority is valid.'),
  renewalFraction: z
    .number()
    .default(0.667)
    .describe('The share of its life after which a certificate is renewed, between 0.1 and 0.9.'),
  confirmationPeriod: duration()
    .default('60s')
    .describe('How long a new authority stands in every caBundle before a certificate of it is served; 10s at least.'),
  keySize: z.literal([2048, 3072, 4096]).default(2048).describe('Bits of the RSA keys.'),
});

export const group = 'sidecar-injector.io';
export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;
export const injectorConfigKind = 'InjectorConfig';
export const injectorConfigPlural = 'injectorconfigs';
/** The class of operators and objects that name none. */
export const defaultOperatorClass = 'default';

/** `spec`: one injector, which is one revision. */
export const injectorConfigSpecSchema = z.object({
  revision: dnsLabel()
    .exactOptional()
    .describe('The revision that namespaces and pods name; the name of the object when omitted. It cannot be changed.'),
  paused: flag(
    'The kill switch: the webhooks are withdrawn, so pods start without this injector, and nothing is repaired.',
  ),
  operatorClass: dnsLabel(40)
    .default(defaultOperatorClass)
    .describe('Which operator looks after this object; an operator ignores the objects of other classes.'),
  injection: injectionSchema
    .prefault({})
    .describe('What is injected, and into which of the pods that reach the webhook.'),
  webhook: webhookSchema.prefault({}).describe('Which pods reach the webhook, and how the API server calls it.'),
  certificate: certificateSchema.prefault({}).describe('The authority and the serving certificate of the webhook.'),
});

/** `spec` with every default filled in. */
export type InjectorConfigSpec = z.output<typeof injectorConfigSpecSchema>;
/** `status`; every field is absent until the operator has written it. */
export type InjectorConfigStatus = z.output<typeof injectorConfigStatusSchema>;

/** An object of our group, as its schema reads it. */
export interface Resource<Kind extends string, Spec, Status> extends KubernetesObject {
  apiVersion: typeof apiVersion;
  kind: Kind;
  metadata: ObjectMeta & { name: string };
  spec: Spec;
  status?: Status;
}

/** An injector: cluster-scoped, named after its revision or for itself. */
export type InjectorConfig = Resource<typeof injectorConfigKind, InjectorConfigSpec, InjectorConfigStatus>;

/** The revision of an InjectorConfig: spec.revision, or its name. */
export function revisionOf(config: Pick<InjectorConfig, 'metadata' | 'spec'>): string {
  return config.spec.revision ?? config.metadata.name;
}

/** `status`, written by the operator alone. */
export const injectorConfigStatusSchema = z.object({
  observedGeneration: z.int().min(0).exactOptional().describe('The generation this status was written for.'),
  revision: z.string().max(63).exactOptional().describe('The revision: spec.revision or the name.'),
  conditions: conditionsSchema('Ready, TemplatesValid, CertificateReady, WebhookReady and others.'),
  config: optionalObject('The configuration that is served.', {
    hash: z.string().max(64).exactOptional().describe('Hash of the configuration that the webhook names.'),
    servedBy: z.int().min(0).exactOptional().describe('How many live replicas say that they serve it.'),
    refused: z
      .string()
      .max(64)
      .exactOptional()
      .describe(
        'Hash of the configuration that the spec asks for and that takes too much to load (TemplatesValid says what). It is not tried again; any other one is.',
      ),
  }),
  certificate: optionalObject('The certificate that is served.', {
    notAfter: optionalTime('When the serving certificate expires.'),
    renewAt: optionalTime('When the next renewal is due.'),
    fingerprint: z.string().max(128).exactOptional().describe('SHA-256 of the serving certificate, in hex.'),
    caNotAfter: optionalTime('When the authority expires.'),
    phase: z.string().max(64).exactOptional().describe('Phase of the rotation.'),
    rotateRequest: optionalObject(
      'The answer to the latest request for a renewal (annotation sidecar-injector.io/rotate).',
      {
        nonce: z.string().max(63).describe('The nonce of the request.'),
        state: z.enum(['Accepted', 'Done', 'Refused']).describe('How far it is.'),
        message: z.string().max(1024).exactOptional().describe('Why it was refused.'),
      },
    ),
  }),
  ...usageStatusFields,
});
