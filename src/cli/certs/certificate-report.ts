import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { bundleFingerprints, type Certificate, parseBundle } from '../../certs/read-certificate.ts';
import { verifyChain } from '../../certs/verify-chain.ts';
import { caBundleOf, ourWebhooksOf, type Webhook } from '../../operator/webhooks/published-webhook.ts';

/** The observed certificates of one InjectorConfig. */
export interface CertificateObservation {
  readonly config: Pick<InjectorConfig, 'metadata' | 'status'>;
  /** Every webhook configuration that sends admissions to this InjectorConfig. */
  readonly configurations: readonly KubernetesObject[];
  /** `tls.crt` of the serving Secret; undefined if the Secret is missing or cannot be read. */
  readonly chain: readonly Certificate[] | undefined;
  /** Why the Secret could not be read. */
  readonly unreadable?: string;
  /** The fingerprint that each live replica reports. */
  readonly replicas: ReadonlyMap<string, string | undefined>;
  readonly now: Date;
}

/** One webhook configuration and its authorities. */
export interface BundleReport {
  readonly configuration: string;
  readonly webhooks: number;
  /** The first 8 hex digits of each authority that is in every webhook's caBundle. */
  readonly authorities: readonly string[];
}

/** The entry of `injector certs status` for one InjectorConfig. Times are RFC 3339 in UTC. */
export interface CertificateReport {
  readonly name: string;
  readonly phase: string;
  /** SHA-256 of the serving certificate in hex. */
  readonly fingerprint?: string;
  readonly notAfter?: string;
  readonly renewAt?: string;
  readonly caNotAfter?: string;
  readonly bundles: readonly BundleReport[];
  /** The first 8 hex digits of the certificate that each replica serves. */
  readonly replicas: Readonly<Record<string, string>>;
  /** Problems, each with a remedy. */
  readonly problems: readonly string[];
}

/** Checks the certificates of one InjectorConfig as the API server does. */
export function certificateReport(observation: CertificateObservation): CertificateReport {
  const { config, configurations, chain = [], replicas } = observation;
  const { phase, fingerprint, notAfter, renewAt, caNotAfter } = config.status?.certificate ?? {};
  const [leaf] = chain;
  return {
    name: config.metadata.name,
    phase: phase ?? 'None',
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(leaf === undefined ? (notAfter === undefined ? {} : { notAfter }) : { notAfter: rfc3339(leaf.notAfter) }),
    ...(renewAt === undefined ? {} : { renewAt }),
    ...(caNotAfter === undefined ? {} : { caNotAfter }),
    bundles: configurations.map(bundleReport),
    replicas: Object.fromEntries([...replicas].map(([name, served]) => [name, served?.slice(0, 8) ?? 'none'])),
    problems: [...certificateProblems(observation), ...bundleProblems(observation), ...replicaProblems(observation)],
  };
}

function certificateProblems({ config, chain, unreadable, now }: CertificateObservation): string[] {
  const problems: string[] = [];
  const secret = `Secret sidecar-injector-${config.metadata.name}-serving`;
  const ready = config.status?.conditions?.find(({ type }) => type === 'CertificateReady');
  if (ready === undefined)
    problems.push('no operator has reconciled this object: check that an operator of its operatorClass is running');
  else if (ready.status !== 'True')
    problems.push(`CertificateReady is ${ready.status} (${ready.reason}): ${ready.message}`);
  const conflict = config.status?.conditions?.find(({ type }) => type === 'Conflict');
  if (conflict?.status === 'True') problems.push(`another client writes the same objects: ${conflict.message}`);
  if (unreadable !== undefined) return [...problems, unreadable];
  if (chain === undefined) return [...problems, `there is no ${secret}: replicas have no certificate to serve`];
  const [leaf] = chain;
  if (leaf === undefined) return [...problems, `${secret} contains no certificate`];
  const renewAt = config.status?.certificate?.renewAt;
  if (leaf.notAfter <= now) problems.push('the serving certificate has expired: check that the operator is running');
  else if (renewAt !== undefined && isOverdue(new Date(renewAt), leaf.notAfter, now)) {
    const problem = `the serving certificate should have been renewed at ${renewAt} and expires at ${rfc3339(leaf.notAfter)}: read the operator's log to find out why the renewal fails`;
    problems.push(problem);
  }
  return problems;
}

/** Reports whether 40 % of the time between renewAt and the expiry has passed. */
function isOverdue(renewAt: Date, notAfter: Date, now: Date): boolean {
  return now.getTime() > renewAt.getTime() + 0.4 * (notAfter.getTime() - renewAt.getTime());
}

/** Verifies the serving certificate against the bundle of each webhook, as the API server does. */
function bundleProblems({ configurations, chain, now }: CertificateObservation): string[] {
  if (chain === undefined) return [];
  return configurations.flatMap((configuration) => {
    const faults = ourWebhooksOf(configuration).flatMap((webhook) =>
      verifyChain(chain, parseBundle(caBundleOf(webhook)), { now, names: hostsOf(webhook) }).map(
        ({ message }) => `${configuration.metadata.name ?? ''}: the API server refuses the certificate: ${message}`,
      ),
    );
    return [...new Set(faults)];
  });
}

function replicaProblems({ config, chain = [], replicas }: CertificateObservation): string[] {
  const [leaf] = chain;
  const fingerprint = leaf?.fingerprint ?? config.status?.certificate?.fingerprint;
  if (fingerprint === undefined) return [];
  return [...replicas].flatMap(([name, served]) => {
    if (served === fingerprint) return [];
    const what = `${served?.slice(0, 8) ?? 'no certificate'}, not ${fingerprint.slice(0, 8)}`;
    return [`replica ${name} serves ${what}: a replica updates within seconds if it reaches the API server`];
  });
}

function bundleReport(configuration: KubernetesObject): BundleReport {
  const webhooks = ourWebhooksOf(configuration);
  const [first, ...rest] = webhooks.map((webhook) => bundleFingerprints(caBundleOf(webhook)));
  const everywhere = [...(first ?? [])].filter((each) => rest.every((bundle) => bundle.has(each)));
  return {
    configuration: configuration.metadata.name ?? '',
    webhooks: webhooks.length,
    authorities: everywhere.map((each) => each.slice(0, 8)),
  };
}

function hostsOf({ clientConfig }: Webhook): string[] {
  const { url, service } = clientConfig ?? {};
  if (url !== undefined) return URL.canParse(url) ? [new URL(url).hostname] : [];
  return service === undefined ? [] : [`${service.name ?? ''}.${service.namespace ?? ''}.svc`];
}

function rfc3339(time: Date): string {
  return time.toISOString().replace('.000Z', 'Z');
}
