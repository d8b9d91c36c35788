import { Command } from 'commander';
import { loadKubeConfig } from '../../kube/kube-config.ts';
import { createLogger } from '../logger.ts';
import { addOperatorOptions, type OperatorOptions } from '../operator/operator-options.ts';
import { startOperator } from '../operator/operator-process.ts';
import { ownNamespace } from '../operator/own-namespace.ts';
import { switchLogLevelOnSignal } from '../switch-log-level.ts';
import { untilSignal } from '../until-signal.ts';

/** `injector operator`: runs until SIGTERM or SIGINT; a second signal ends it at once. */
export function operatorCommand(): Command {
  const command = new Command('operator').description('run the operator: controller and webhook');
  return addOperatorOptions(command).action(async (options: OperatorOptions) => {
    const logger = createLogger(options.logLevel, options.logFormat ?? (process.stderr.isTTY ? 'text' : 'json'));
    switchLogLevelOnSignal(logger, options.logLevel);
    const kubeConfig = loadKubeConfig({ kubeconfig: options.kubeconfig, context: options.context });
    const namespace = ownNamespace(options.namespace, kubeConfig);
    const operator = await startOperator(options, kubeConfig, namespace, logger);
    await untilSignal((signal) => {
      logger.info('stopping', { signal, drainSeconds: options.drainSeconds });
    });
    await operator.stop();
    logger.info('stopped');
  });
}
