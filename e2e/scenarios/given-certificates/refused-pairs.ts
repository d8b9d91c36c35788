import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { found } from '../../harness/wait-for.ts';
import { CompanyAuthority, type PairText } from './company-authority.ts';
import type { GivenSecret } from './given-secret.ts';

const day = 86_400_000;

/** A Secret that could not serve. */
interface BadPair {
  says: string;
  reason: string;
  /** The key that the condition must name; undefined when the whole Secret is missing. */
  key: string | undefined;
  write: (secret: GivenSecret) => Promise<void>;
}

/** Every way in which a user's Secret is wrong, made from a good one. */
async function badPairs(secret: GivenSecret, company: CompanyAuthority, good: PairText): Promise<BadPair[]> {
  const { names, namespace } = secret.cluster;
  const forService = { service: names.service, namespace };
  const stranger = await CompanyAuthority.create('stranger');
  const elsewhere = await company.issue({ service: 'another-service', namespace });
  const expired = await company.issue({ ...forService, now: new Date(Date.now() - 2 * day), duration: day });
  const other = await company.issue(forService);
  const [leaf = ''] = other['tls.crt'].split(/(?<=-----END CERTIFICATE-----\n)/);
  const bad = (says: string, reason: string, key: string, text: Parameters<GivenSecret['write']>[0]): BadPair => ({
    says,
    reason,
    key,
    write: (each) => each.write(text),
  });
  return [
    bad('a certificate for another name', 'NameMissing', 'tls.crt', elsewhere),
    bad("another certificate's key", 'KeyMismatch', 'tls.key', { ...other, 'tls.key': good['tls.key'] }),
    bad('a certificate that has expired', 'Expired', 'tls.crt', expired),
    bad('a chain without its intermediate', 'Untrusted', 'ca.crt', { ...other, 'tls.crt': leaf }),
    bad('an authority that did not sign it', 'Untrusted', 'ca.crt', { ...other, 'ca.crt': stranger.root }),
    bad('half of a certificate', 'Unreadable', 'tls.crt', { ...other, 'tls.crt': leaf.slice(0, leaf.length / 2) }),
    bad('no key', 'KeyMissing', 'tls.key', { 'tls.crt': other['tls.crt'], 'ca.crt': other['ca.crt'] }),
    { says: 'no Secret', reason: 'SecretMissing', key: undefined, write: (each) => each.delete() },
  ];
}

/**
 * Writes each of them under load: it is refused with a condition that names Secret, key and what to do, and a Warning Event, while the certificate that
 * was served before goes on being served. Returns how many there were.
 */
export async function checkRefusals(secret: GivenSecret, company: CompanyAuthority, good: PairText): Promise<number> {
  const { cluster } = secret;
  const { context, observer, losses } = cluster;
  const since = Date.now();
  const served = await secret.waitUntilServed(good);
  const pairs = await badPairs(secret, company, good);
  for (const { says, reason, key, write } of pairs) {
    const began = Date.now();
    await write(secret);
    await context.check(`${says}: refused as ${reason}; the one before is served meanwhile`, async () => {
      const condition = await secret.condition();
      found(condition.says, `False (${reason})`);
      const told = [`Secret ${cluster.namespace}/${secret.name}`, key ?? '', 'is served meanwhile'];
      return told.every((part) => condition.message.includes(part));
    });
    await observer.waitForRound();
    await context.checkNow(
      `and every replica goes on with it, ${Date.now() - began} ms later`,
      () => observer.common() === served,
    );
  }
  await context.check('a Warning Event tells of each', async () => {
    const told = new Set(await warnings(secret));
    return found(
      pairs
        .filter(({ reason }) => !told.has(reason))
        .map(({ says }) => says)
        .join(),
      '',
    );
  });
  await losses.checkNone(`${pairs.length} Secrets that could not serve`, since);
  return pairs.length;
}

/** Reasons of the Warning Events about the InjectorConfig. */
async function warnings({ cluster }: GivenSecret): Promise<string[]> {
  const { items } = await cluster.context.client.listAll<
    KubernetesObject & { regarding: { name?: string }; reason: string; type: string }
  >(resourceKind('events.k8s.io/v1', 'Event'));
  return items
    .filter(({ regarding, type }) => regarding.name === cluster.name && type === 'Warning')
    .map(({ reason }) => reason);
}
