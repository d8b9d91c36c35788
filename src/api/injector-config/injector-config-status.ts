import { z } from 'zod';
import { usageStatusFields } from './usage-status.ts';
import { conditionsSchema, optionalObject, optionalTime } from '../kubernetes/field-types.ts';

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
