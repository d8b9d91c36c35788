import type { ResourceKind } from '../../kube/resource-kinds.ts';
import { certificates, configMaps, secrets, signingRequests } from '../cluster-view.ts';
import { FollowedObjects, type FollowedObjectsOptions } from '../followed-objects.ts';
import { CertManagerProvider, type CertManagerProviderOptions } from './cert-manager-provider.ts';
import { disabledProvider, selfSignedProvider } from './certificate-provider.ts';
import { secretProvider } from './certificate-secret-provider.ts';
import type { RevisionCertificatesOptions } from './revision-certificates.ts';
import { SigningRequestProvider, type SigningRequestProviderOptions } from './signing-request-provider.ts';
import { TrustedAuthorities } from './trusted-authorities.ts';

/** Creates the certificate providers. Those without permissions in this installation refuse. */
export function createProviders(
  parts: Omit<SigningRequestProviderOptions & CertManagerProviderOptions, 'requests' | 'certificates' | 'secrets' | 'trust'>,
  followed: Omit<FollowedObjectsOptions, 'resource'>,
): RevisionCertificatesOptions['providers'] {
  const { settings, clock } = parts;
  const { namespace } = settings.context;
  // One instance per provider: each stops the watches that its own provider does not need.
  const follow = (resource: ResourceKind): FollowedObjects => new FollowedObjects({ ...followed, resource });
  const trust = (): TrustedAuthorities =>
    new TrustedAuthorities({ ConfigMap: follow(configMaps), Secret: follow(secrets) }, namespace);
  return {
    SelfSigned: selfSignedProvider,
    Secret: secretProvider(follow(secrets), namespace, clock),
    CertificateSigningRequest:
      settings.certificateSigningRequests === true
        ? new SigningRequestProvider({ ...parts, requests: follow(signingRequests), trust: trust() })
        : disabledProvider("set the chart's operator.certificateSigningRequests (flag --certificate-signing-requests)"),
    CertManager:
      settings.certManager === true
        ? new CertManagerProvider({
            ...parts,
            certificates: follow(certificates),
            secrets: follow(secrets),
            trust: trust(),
          })
        : disabledProvider("set the chart's operator.certManager (flag --cert-manager)"),
  };
}
