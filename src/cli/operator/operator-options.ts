import { InvalidArgumentError, Option, type Command } from 'commander';
import { parseCount, parseFactor, parseIdentity, parsePort, parseSeconds } from '../option-values.ts';
import { logLevels, type LogFormat, type LogLevel } from '../logger.ts';

/** The flags of `injector operator`. */
export interface OperatorOptions {
  readonly role: 'all' | 'controller' | 'webhook';
  readonly namespace?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly operatorClass: string;
  readonly owner?: string;
  readonly advertise?: { readonly host: string; readonly port: number };
  readonly identity?: string;
  readonly podSelector: Readonly<Record<string, string>>;
  readonly bindAddress: string;
  readonly webhookPort: number;
  readonly healthPort: number;
  /** Seconds between going unready and closing. */
  readonly drainSeconds: number;
  /** Whether a leader follows the cluster's pods. */
  readonly followPods: boolean;
  /** Whether RevisionTags may ask for restarts of workloads. */
  readonly restartWorkloads: boolean;
  /** Whether certificates may come from signers, by CertificateSigningRequests. */
  readonly certificateSigningRequests: boolean;
  /** Whether certificates may come from cert-manager. */
  readonly certManager: boolean;
  /** After so many answers a connection is ended; undefined: never. */
  readonly requestsPerConnection?: number;
  readonly logLevel: LogLevel;
  readonly logFormat?: LogFormat;
  /** Not shown: for tests that cannot wait for a certificate to expire. */
  readonly testCertificateTimeScale?: number;
  /** Not shown: for tests that only wait for the Lease of a dead process to expire. */
  readonly testLeaseTimeScale?: number;
  /** Not shown: for tests of clocks that are wrong. */
  readonly testClockOffsetFile?: string;
}

const servingPods = 'app.kubernetes.io/name=injector-operator';

/** Adds the flags to the command; commander checks each value and says which flag is wrong. */
export function addOperatorOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--role <role>',
        'which part of the operator this process is: what leads and writes, what serves admission, or both',
      )
        .choices(['all', 'controller', 'webhook'])
        .default('all'),
    )
    .option('--namespace <name>', "the operator's own namespace (default: the pod's, then the kubeconfig context's)")
    .option('--kubeconfig <file>', 'a kubeconfig (default: $KUBECONFIG, ~/.kube/config, the ServiceAccount of the pod)')
    .option('--context <name>', 'a context of the kubeconfig instead of its current one')
    .option('--operator-class <name>', 'look after InjectorConfigs of this class only', 'default')
    .option(
      '--owner <name>',
      'the MutatingWebhookConfiguration that owns the webhooks, so that they go with the installation',
    )
    .option(
      '--advertise <host:port>',
      'where the API server reaches this process when it does not run in the cluster',
      hostAndPort,
    )
    .option(
      '--identity <name>',
      'the name of this replica, its pod (default: $POD_NAME, then the host name and process id)',
      parseIdentity,
    )
    .addOption(
      new Option('--pod-selector <labels>', 'labels of the pods that serve admission: key=value,…')
        .argParser(labels)
        .default(labels(servingPods), servingPods),
    )
    .option('--bind-address <address>', 'the address to listen on', '0.0.0.0')
    .option('--webhook-port <port>', 'the port of the webhook', parsePort, 15017)
    .option('--health-port <port>', 'the port of probes and metrics', parsePort, 8080)
    .option(
      '--drain-seconds <seconds>',
      'how long to go on serving after SIGTERM while balancers take notice',
      parseSeconds,
      5,
    )
    .option(
      '--requests-per-connection <count>',
      'end each connection with its count-th answer, so that API servers come to new replicas too (default: never)',
      parseCount,
    )
    .option(
      '--no-follow-pods',
      "a leader does not follow the cluster's pods: no Events about pods, and no counts of who uses what",
    )
    .option(
      '--restart-workloads',
      'a leader restarts workloads whose pods are stale where a RevisionTag asks for it (spec.strategy.restart, spec.strategy.rollback.restart)',
      false,
    )
    .option(
      '--certificate-signing-requests',
      'a leader asks signers for certificates where an InjectorConfig wants it (spec.certificate.provider CertificateSigningRequest)',
      false,
    )
    .option(
      '--cert-manager',
      'a leader takes certificates from cert-manager where an InjectorConfig wants it (spec.certificate.provider CertManager)',
      false,
    )
    .addOption(new Option('--log-level <level>', 'the least important lines to log').choices(logLevels).default('info'))
    .addOption(
      new Option('--log-format <format>', 'json for collectors, text for people (default: text on a terminal)').choices(
        ['json', 'text'],
      ),
    )
    .addOption(
      new Option('--test-certificate-time-scale <factor>', 'divides every duration of spec.certificate; for tests only')
        .argParser(parseFactor)
        .hideHelp(),
    )
    .addOption(
      new Option(
        '--test-lease-time-scale <factor>',
        "divides the durations of the leader's Lease and of the replicas' Leases; for tests only",
      )
        .argParser(parseFactor)
        .hideHelp(),
    )
    .addOption(
      new Option(
        '--test-clock-offset-file <file>',
        'milliseconds by which the clock of this process is wrong, read again at every look; for tests only',
      ).hideHelp(),
    );
}

function hostAndPort(text: string): { host: string; port: number } {
  const match = /^([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?):(\d+)$/.exec(text);
  const [, host = '', , number = ''] = match ?? [];
  if (match === null || Number(number) < 1 || Number(number) > 65_535 || /^[\d.]+$/.test(host)) {
    const message = 'It must be HOST:PORT; HOST must be a DNS name like localhost (a Service cannot point to an IP).';
    throw new InvalidArgumentError(message);
  }
  return { host, port: Number(number) };
}

function labels(text: string): Record<string, string> {
  const pairs = text.split(',').map((pair) => /^([^=\s]+)=([^=\s]*)$/.exec(pair));
  return Object.fromEntries(
    pairs.map((match) => {
      if (match === null) throw new InvalidArgumentError('It must be key=value, several separated by commas.');
      return [match[1] ?? '', match[2] ?? ''];
    }),
  );
}
