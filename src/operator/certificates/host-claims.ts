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

/** By which hosts of its own, beside the Service's name, an InjectorConfig may be called. */
export interface HostClaim {
  /** What its certificate must carry: the host of `spec.webhook.url` unless another has it, and those that webhooks in force call. */
  readonly hosts: readonly string[];
  /** Undefined unless the host of `spec.webhook.url` is another's. */
  readonly taken: Finding | undefined;
}

/**
 * Who may have the host of `spec.webhook.url`. A TLS server tells certificates apart by the host that its client names: of two InjectorConfigs with
 * one host only one is answered, and which one may change when a replica restarts, which would stop the pods of one that has been well. So the one that
 * is called there already keeps it, of several the oldest, then the first by name; the other gets no certificate for it and publishes nothing. The names
 * of a Service are never anybody else's.
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
  // One that is being deleted has what it is called by, for as long as somebody's finalizer holds its webhook.
  const asks = (each: InjectorConfig): boolean =>
    webhookHost(each) === host && each.metadata.deletionTimestamp === undefined;
  const rivals = context.targets
    .configs()
    .filter((other) => other.metadata.name !== config.metadata.name && !haveOneCertificate(other, config))
    .filter((other) => asks(other) || isOfService(other) || isCalled(other));
  const [first] = [config, ...rivals].sort((one, other) => (rank(one) < rank(other) ? -1 : 1));
  return first === config ? undefined : first;
}

/** The hosts by which webhooks in force call an InjectorConfig, its own and those of tags that lead to it. */
function calledHosts({ metadata }: InjectorConfig, { view }: ClaimContext): string[] {
  const webhooks = view.webhooksOf(metadata.name).flatMap(ourWebhooksOf);
  return [...new Set(webhooks.flatMap(({ clientConfig }) => hostOfUrl(clientConfig?.url) ?? []))];
}
