import { createCertManagerProvider, type CertManagerProviderOptions } from './cert-manager-provider.ts';
import { disabledProvider, selfSignedProvider } from './certificate-provider.ts';
import { secretProvider } from './certificate-secret-provider.ts';
import type { CertificateParts } from './revision-certificates.ts';
import { createSigningRequestProvider, type SigningRequestProviderOptions } from './signing-request-provider.ts';

/** Creates the certificate providers. Those without permissions in this installation refuse. */
export function createProviders(
  parts: SigningRequestProviderOptions & CertManagerProviderOptions,
): CertificateParts['providers'] {
  const { settings, clock, followed } = parts;
  return {
    SelfSigned: selfSignedProvider,
    Secret: secretProvider(followed, settings.context.namespace, clock),
    CertificateSigningRequest:
      settings.certificateSigningRequests === true
        ? createSigningRequestProvider(parts)
        : disabledProvider("set the chart's operator.certificateSigningRequests (flag --certificate-signing-requests)"),
    CertManager:
      settings.certManager === true
        ? createCertManagerProvider(parts)
        : disabledProvider("set the chart's operator.certManager (flag --cert-manager)"),
  };
}
