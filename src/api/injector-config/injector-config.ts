import { z } from 'zod';
import {
  choice,
  dnsLabel,
  dnsSubdomainPattern,
  duration,
  flag,
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
    ['SelfSigned', 'Secret'],
    'SelfSigned',
    'Where the serving certificate comes from: SelfSigned is an authority that the operator keeps for this revision, Secret the Secret that secretRef names.',
  ),
  secretRef: optionalObject(
    'With provider Secret: certificate (tls.crt, then intermediates), key (tls.key) and authority (ca.crt) of your own. It is followed.',
    {
      name: text(253, dnsSubdomainPattern, 'must be the name of a Secret').describe(
        "Name of the Secret, in the operator's own namespace.",
      ),
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
