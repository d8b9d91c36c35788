import type { Clock } from '../../kube/ports.ts';
import { secrets } from '../cluster-view.ts';
import type { FollowedObjects } from '../followed-objects.ts';
import { type CertificateProvider, lackingKeys, provided, refused } from './certificate-provider.ts';
import { servingPairOf } from './secret-text.ts';

const field = 'spec.certificate.secretRef';
const keys = ['tls.crt', 'tls.key', 'ca.crt'];
const requiredKeys = 'tls.crt (the certificate, then intermediates), tls.key and ca.crt (the authority), all PEM';

/**
 * Implements `spec.certificate.provider: Secret`: watches the user's Secret, and checks the
 * certificate as the API server does. @param namespace the only namespace whose Secrets we read
 */
export function secretProvider(
  followed: FollowedObjects,
  namespace: string,
  clock: Pick<Clock, 'now'>,
): CertificateProvider {
  return {
    async provide(config, [name = ''], signal) {
      const user = config.metadata.name;
      const place = { namespace, name: config.spec.certificate.secretRef?.name ?? '' };
      const origin = `Secret ${namespace}/${place.name}`;
      const object = await followed.read(user, secrets, place, signal);
      if (object === undefined)
        return refused('SecretMissing', `${field}: ${origin} does not exist; create it with ${requiredKeys}`);
      const lacking = lackingKeys(object.data, keys);
      if (lacking.length > 0)
        return refused('KeyMissing', `${field}: ${origin} lacks ${lacking.join(', ')}; it needs ${requiredKeys}`);
      return provided(servingPairOf(object), origin, field, name, clock.now());
    },
  };
}
