import { type InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { subjectAltNames } from '../../certs/certificate-names.ts';
import {
  certificateNames,
  haveOneCertificate,
  hostOfUrl,
  hostTaken,
  webhookHost,
} from '../../manifests/certificate-terms.ts';
import type { ClusterView } from '../cluster-view.ts';
import type { Finding } from '../controller/revision-status.ts';
import { ourWebhooksOf } from '../webhooks/published-webhook.ts';

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
export class HostClaims {
  readonly #view: Pick<ClusterView, 'webhooksOf'>;
  readonly #namespace: string;
  readonly #configs: () => readonly InjectorConfig[];

  /**
   * @param namespace where the Services are
   * @param configs the InjectorConfigs of our class that can be read
   */
  constructor(view: Pick<ClusterView, 'webhooksOf'>, namespace: string, configs: () => readonly InjectorConfig[]) {
    this.#view = view;
    this.#namespace = namespace;
    this.#configs = configs;
  }

  of(config: InjectorConfig): HostClaim {
    const called = this.#called(config);
    const host = webhookHost(config);
    const holder = host === undefined ? undefined : this.#holder(config, host);
    if (host === undefined || holder === undefined) {
      return { hosts: [...new Set([...(host === undefined ? [] : [host]), ...called])], taken: undefined };
    }
    return { hosts: called, taken: { status: 'False', reason: 'HostTaken', message: hostTaken(host, holder) } };
  }

  #holder(config: InjectorConfig, host: string): InjectorConfig | undefined {
    const rank = (each: InjectorConfig): string => {
      const { creationTimestamp = '', name } = each.metadata;
      const first = this.#isOfService(each, host) ? 0 : this.#called(each).includes(host) ? 1 : 2;
      return [first, creationTimestamp, name].join(' ');
    };
    const { name } = config.metadata;
    const rivals = this.#configs().filter(
      (other) =>
        other.metadata.name !== name &&
        !haveOneCertificate(other, config) &&
        // One that is being deleted has what it is called by, for as long as somebody's finalizer holds its webhook.
        ((webhookHost(other) === host && other.metadata.deletionTimestamp === undefined) ||
          this.#isOfService(other, host) ||
          this.#called(other).includes(host)),
    );
    const [first] = [config, ...rivals].sort((one, other) => (rank(one) < rank(other) ? -1 : 1));
    return first === config ? undefined : first;
  }

  /** Whether the certificate of an InjectorConfig has this name in any case. */
  #isOfService({ metadata }: InjectorConfig, host: string): boolean {
    return subjectAltNames(certificateNames(metadata.name, this.#namespace, [])).dns.includes(host);
  }

  /** The hosts by which webhooks in force call an InjectorConfig, its own and those of tags that lead to it. */
  #called({ metadata }: InjectorConfig): string[] {
    return [...new Set(this.#view.webhooksOf(metadata.name).flatMap(hostsOf))];
  }
}

function hostsOf(configuration: KubernetesObject): string[] {
  return ourWebhooksOf(configuration).flatMap(({ clientConfig }) => hostOfUrl(clientConfig?.url) ?? []);
}
