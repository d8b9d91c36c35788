import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { subjectAltNames } from '../../certs/certificate-names.ts';
import {
  certificateNames,
  haveOneCertificate,
  hostOfUrl,
  hostTaken,
  webhookHost,
} from '../../manifests/certificate-terms.ts';
import type { PassContext } from '../controller/pass-context.ts';
import { type Finding, no } from '../controller/revision-status.ts';
import { ourWebhooksOf } from '../webhooks/published-webhook.ts';

type ClaimContext = Pick<PassContext, 'view' | 'settings' | 'targets'>;

/** The hosts at which a webhook may call an InjectorConfig, besides the name of its Service. */
export interface HostClaim {
  /** The hosts of live webhooks, and the host of `spec.webhook.url` unless that host is refused. */
  readonly hosts: readonly string[];
  /** The refusal if another InjectorConfig has the host of `spec.webhook.url`. */
  readonly taken: Finding | undefined;
}

/**
 * Decides whether an InjectorConfig may use the host of `spec.webhook.url`. A TLS server selects
 * the certificate by host, so only one of two InjectorConfigs with the same host would work, and a
 * restart of a replica could change the choice. The host goes to the InjectorConfig whose Service
 * has that name, else to one whose live webhook uses the host, else to the oldest, else to the
 * first by name. The other InjectorConfigs publish nothing.
 */
export function hostClaimOf(config: InjectorConfig, context: ClaimContext): HostClaim {
  const called = calledHosts(config, context);
  const host = webhookHost(config);
  if (host === undefined) return { hosts: called, taken: undefined };
  const holder = holderOf(host, config, context);
  if (holder !== undefined) return { hosts: called, taken: no('HostTaken', hostTaken(host, holder)) };
  return { hosts: [...new Set([host, ...called])], taken: undefined };
}

function holderOf(host: string, config: InjectorConfig, context: ClaimContext): InjectorConfig | undefined {
  const isOfService = ({ metadata }: InjectorConfig): boolean => {
    const names = certificateNames(metadata.name, context.settings.context.namespace, []);
    return subjectAltNames(names).dns.includes(host);
  };
  const isCalled = (each: InjectorConfig): boolean => calledHosts(each, context).includes(host);
  const rank = (each: InjectorConfig): string => {
    const { creationTimestamp = '', name } = each.metadata;
    return [isOfService(each) ? 0 : isCalled(each) ? 1 : 2, creationTimestamp, name].join(' ');
  };
  // An InjectorConfig that is being deleted keeps only the hosts of its live webhooks.
  const asks = (each: InjectorConfig): boolean =>
    webhookHost(each) === host && each.metadata.deletionTimestamp === undefined;
  const rivals = context.targets
    .configs()
    .filter((other) => other.metadata.name !== config.metadata.name && !haveOneCertificate(other, config))
    .filter((other) => asks(other) || isOfService(other) || isCalled(other));
  const [first] = [config, ...rivals].sort((one, other) => (rank(one) < rank(other) ? -1 : 1));
  return first === config ? undefined : first;
}

/** Returns the hosts in live webhooks for an InjectorConfig, including the webhooks of tags. */
function calledHosts({ metadata }: InjectorConfig, { view }: ClaimContext): string[] {
  const webhooks = view.webhooksOf(metadata.name).flatMap(ourWebhooksOf);
  return [...new Set(webhooks.flatMap(({ clientConfig }) => hostOfUrl(clientConfig?.url) ?? []))];
}
