import { z } from 'zod';
import { dnsSubdomainPattern, duration } from './field-types.ts';

/** `spec.certificate`: the authority and the serving certificate of the webhook. */
export const certificateSchema = z.object({
  provider: z
    .enum(['SelfSigned', 'Secret'])
    .default('SelfSigned')
    .describe(
      'Where the serving certificate comes from: SelfSigned is an authority that the operator keeps for this revision, Secret the Secret that secretRef names.',
    ),
  secretRef: z
    .object({
      name: z
        .string()
        .min(1)
        .max(253)
        .regex(dnsSubdomainPattern, 'must be the name of a Secret')
        .describe("Name of the Secret, in the operator's own namespace."),
    })
    .exactOptional()
    .describe(
      'With provider Secret: certificate (tls.crt, then intermediates), key (tls.key) and authority (ca.crt) of your own. It is followed.',
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
