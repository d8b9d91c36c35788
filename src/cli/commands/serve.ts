import { Command, Option } from 'commander';
import { Registry } from 'prom-client';
import { configurationHash } from '../../api/injector-config/configuration-hash.ts';
import { ConfigurationError } from '../../api/errors.ts';
import type { InjectionSettings } from '../../api/injector-config/injection-settings.ts';
import { createAdmissionServer } from '../../server/admission-server.ts';
import { type CurrentInjector, injectRoute, readyRoute } from '../../server/admission/pod-routes.ts';
import { ConfigurationLoader } from '../../server/loading/configuration-loader.ts';
import { ServerMetrics } from '../../server/metrics/server-metrics.ts';
import { defaultShutDownTimes, shutDown } from '../../server/health/shut-down.ts';
import { ConfigurationTrials } from '../../server/trial/configuration-trials.ts';
import { ReviewWorker } from '../../server/worker/review-worker.ts';
import { youngCollector } from '../heap-bounds.ts';
import {
  annotationOverridesOption,
  istioSettings,
  kubeletVersionOption,
  nativeSidecarsOption,
  readConfigurationDirectory,
  type SettingsFlags,
} from '../injection/injection-options.ts';
import type { NodeFacts } from '../../inject/injection-request.ts';
import {
  createLogger,
  type LogFormat,
  type LogLevel,
  logLevels,
  switchLogLevelOnSignal,
  untilSignal,
} from '../logger.ts';
import { parseDelimiters, parsePort, parseSeconds } from '../option-values.ts';
import { FollowedFiles } from '../serve/followed-files.ts';
import { loadPair, onePair, readPair } from '../serve/serving-pair.ts';

interface ServeOptions extends SettingsFlags {
  readonly configDir: string;
  readonly host: string;
  readonly port: number;
  readonly tlsCert: string;
  readonly tlsKey: string;
  readonly kubeletVersion: readonly NodeFacts[];
  readonly platform: 'kubernetes' | 'openshift';
  readonly compliancePolicy: string;
  readonly drainSeconds: number;
  readonly logLevel: LogLevel;
  readonly logFormat?: LogFormat;
}

/** How often to check the files for changes, in milliseconds. */
const followInterval = 1000;

/** `injector serve`: serves the webhook from a directory, as Istio 1.x's injector did. */
export function serveCommand(): Command {
  return new Command('serve')
    .description("serve POST /inject from a directory with Istio's files config, values and mesh, without a cluster")
    .requiredOption(
      '--config-dir <directory>',
      'the directory with file config and optional files values and mesh; changes are reloaded',
    )
    .option('--host <address>', 'the address to listen on', '0.0.0.0')
    .option('--port <port>', 'the port; 0 for any free port', parsePort, 15017)
    .requiredOption('--tls-cert <file>', 'the serving certificate as PEM; changes are reloaded')
    .requiredOption('--tls-key <file>', 'the private key of the certificate as PEM')
    .option('--revision <name>', 'the revision', 'default')
    .addOption(nativeSidecarsOption())
    .addOption(annotationOverridesOption())
    .addOption(kubeletVersionOption())
    .option('--delims <left,right>', 'the delimiters of template actions', parseDelimiters)
    .addOption(
      new Option('--platform <name>', 'the platform of the pods')
        .choices(['kubernetes', 'openshift'])
        .default('kubernetes'),
    )
    .option('--compliance-policy <name>', 'the value of .CompliancePolicy in templates', '')
    .option('--drain-seconds <seconds>', 'how long to continue serving after SIGTERM', parseSeconds, 5)
    .addOption(new Option('--log-level <level>', 'the lowest level to log').choices(logLevels).default('info'))
    .addOption(
      new Option('--log-format <format>', 'json or text (default: text on a terminal)').choices(['json', 'text']),
    )
    .action(serve);
}

async function serve(options: ServeOptions): Promise<void> {
  const logger = createLogger(options.logLevel, options.logFormat ?? (process.stderr.isTTY ? 'text' : 'json'));
  switchLogLevelOnSignal(logger, options.logLevel);
  const settings = settingsOf(options);
  const onProblem = (what: string) => (problem: string) =>
    logger.error(`${what} cannot be loaded; the last valid version stays in use`, { problem });
  const clock = (): number => performance.now();
  const worker = new ReviewWorker({ log: logger, clock });
  const trials = new ConfigurationTrials({ log: logger, clock });
  const loader = new ConfigurationLoader({ clock, trials, collect: youngCollector() });
  const configuration = new FollowedFiles({
    read: () => readConfigurationDirectory(options.configDir, settings),
    load: async (files): Promise<CurrentInjector> => ({
      name: options.revision,
      hash: configurationHash(files),
      injector: await loader.load(files),
    }),
    onLoaded: ({ hash, injector }) => logger.info('loaded the configuration', { hash, warnings: injector.warnings }),
    onProblem: onProblem('the configuration'),
  });
  const pair = new FollowedFiles({
    read: () => readPair(options.tlsCert, options.tlsKey),
    load: loadPair,
    onLoaded: ({ notAfter }) => logger.info('loaded the serving certificate', { notAfter: notAfter.toISOString() }),
    onProblem: onProblem('the serving certificate'),
  });
  await configuration.check();
  await pair.check();
  if (configuration.value === undefined || pair.value === undefined)
    throw new ConfigurationError('serve', 'nothing to serve; the log lines above report the errors');
  const server = createAdmissionServer({
    bindAddress: options.host,
    port: options.port,
    routes: [
      injectRoute(() => configuration.value, { surroundings: () => ({ nodes: options.kubeletVersion }), worker }),
      readyRoute(() => (server.state === 'serving' ? undefined : server.state)),
    ],
    certificates: onePair(() => pair.value),
    log: logger,
    metrics: new ServerMetrics(new Registry()),
    clock,
  });
  await server.listen();
  logger.info('serving', { ...server.address });
  const stopFollowing = [configuration.follow(followInterval), pair.follow(followInterval)];
  await untilSignal((signal) => logger.info('stopping', { signal, drainSeconds: options.drainSeconds }));
  await shutDown(server, { ...defaultShutDownTimes, drain: options.drainSeconds * 1000 });
  await worker.close();
  await trials.close();
  for (const stop of stopFollowing) stop();
}

function settingsOf(options: ServeOptions): InjectionSettings {
  const platform = options.platform === 'openshift' ? 'OpenShift' : 'Kubernetes';
  return { ...istioSettings(options), platform, compliancePolicy: options.compliancePolicy };
}
