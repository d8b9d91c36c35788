import { InvalidArgumentError, Option, type Command } from 'commander';
import { parseCount, parseFactor, parseIdentity, parsePort, parseSeconds } from '../option-values.ts';
import type { ManifestContext } from '../../manifests/manifest-context.ts';
import type { OperatorSettings } from '../../operator/settings.ts';
import type { ClusterOptions } from '../cluster-options.ts';
import { logLevels, type LogFormat, type LogLevel } from '../logger.ts';

/** The flags of `injector operator`. Those of the controller have the names of its settings. */
export interface OperatorOptions
  extends
    ClusterOptions,
    Omit<OperatorSettings, 'context' | 'identity'>,
    Pick<ManifestContext, 'operatorClass' | 'podSelector' | 'advertise'> {
  readonly role: 'all' | 'controller' | 'webhook';
  readonly namespace?: string;
  readonly identity?: string;
  readonly bindAddress: string;
  readonly webhookPort: number;
  readonly healthPort: number;
  /** How long an unready server continues to serve, in seconds. */
  readonly drainSeconds: number;
  readonly openshift: boolean;
  /** The number of responses after which a connection is closed; undefined for no limit. */
  readonly requestsPerConnection?: number;
  readonly logLevel: LogLevel;
  readonly logFormat?: LogFormat;
  /** Hidden; for tests of wrong clocks. */
  readonly testClockOffsetFile?: string;
}

const servingPods = 'app.kubernetes.io/name=injector-operator';

export function addOperatorOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--role <role>',
        'the part of the operator in this process: the controller, which writes objects; the webhook, which serves admission requests; or both',
      )
        .choices(['all', 'controller', 'webhook'])
        .default('all'),
    )
    .option('--namespace <name>', "the operator's namespace (default: the pod's, then the kubeconfig context's)")
    .option(
      '--kubeconfig <file>',
      'the kubeconfig (default: $KUBECONFIG, ~/.kube/config, the ServiceAccount of the pod)',
    )
    .option('--context <name>', 'the context of the kubeconfig (default: its current context)')
    .option('--operator-class <name>', 'reconcile only InjectorConfigs and RevisionTags of this class', 'default')
    .option(
      '--owner <name>',
      'the MutatingWebhookConfiguration that owns the webhooks, so that they are deleted with the installation',
    )
    .option(
      '--advertise <host:port>',
      'the address at which the API server reaches this process outside the cluster',
      hostAndPort,
    )
    .option(
      '--identity <name>',
      'the name of this replica (default: $POD_NAME, then the host name and process id)',
      parseIdentity,
    )
    .addOption(
      new Option('--pod-selector <labels>', 'the labels of the pods that serve admission requests: key=value,…')
        .argParser(labels)
        .default(labels(servingPods), servingPods),
    )
    .option('--bind-address <address>', 'the address to listen on', '0.0.0.0')
    .option('--webhook-port <port>', 'the port of the webhook', parsePort, 15017)
    .option('--health-port <port>', 'the port of probes and metrics', parsePort, 8080)
    .option(
      '--drain-seconds <seconds>',
      'how long to continue serving after SIGTERM, until load balancers stop sending requests',
      parseSeconds,
      5,
    )
    .option(
      '--requests-per-connection <count>',
      'close each connection after this number of responses, so that API servers also connect to new replicas (default: never)',
      parseCount,
    )
    .option('--no-follow-pods', 'do not watch pods, write no Events about pods, and count no usage')
    .option(
      '--restart-workloads',
      'restart workloads with stale pods if a RevisionTag requests it (spec.strategy.restart, spec.strategy.rollback.restart)',
      false,
    )
    .option(
      '--update-pods',
      'update running pods in place if a RevisionTag requests it (spec.strategy.update InPlace)',
      false,
    )
    .option(
      '--hold-pods',
      'hold pods while the webhook cannot be called if an InjectorConfig requests it (spec.webhook.failurePolicy Hold)',
      false,
    )
    .option(
      '--certificate-signing-requests',
      'request certificates from signers if an InjectorConfig requests it (spec.certificate.provider CertificateSigningRequest)',
      false,
    )
    .option(
      '--cert-manager',
      'request certificates from cert-manager if an InjectorConfig requests it (spec.certificate.provider CertManager)',
      false,
    )
    .option(
      '--openshift',
      'watch namespaces, whose annotations have the ranges of users and groups on OpenShift (spec.injection.platform OpenShift)',
      false,
    )
    .addOption(new Option('--log-level <level>', 'the lowest level to log').choices(logLevels).default('info'))
    .addOption(
      new Option('--log-format <format>', 'json or text (default: text on a terminal, otherwise json)').choices([
        'json',
        'text',
      ]),
    )
    .addOption(
      new Option('--test-certificate-time-scale <factor>', 'divides every duration of spec.certificate; for tests only')
        .argParser(parseFactor)
        .hideHelp(),
    )
    .addOption(
      new Option(
        '--test-lease-time-scale <factor>',
        "divides the durations of the leader's Lease, of the replicas' Leases and of usage statuses; for tests only",
      )
        .argParser(parseFactor)
        .hideHelp(),
    )
    .addOption(
      new Option(
        '--test-clock-offset-file <file>',
        'a file with the offset of the clock of this process in milliseconds, read at every use; for tests only',
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
      if (match === null) throw new InvalidArgumentError('It must be key=value; separate several labels by commas.');
      return [match[1] ?? '', match[2] ?? ''];
    }),
  );
}
