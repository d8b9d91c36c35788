import { existsSync, readFileSync } from 'node:fs';
import { Command } from 'commander';
import { type KubeConfig, loadKubeConfig } from '../../kube/kube-config.ts';
import { createLogger, switchLogLevelOnSignal, untilSignal } from '../logger.ts';
import { addOperatorOptions, type OperatorOptions } from '../operator/operator-options.ts';
import { startOperator } from '../operator/operator-process.ts';
import { UsageError } from '../terminal.ts';

/** `injector operator`: runs until SIGTERM or SIGINT; a second signal ends it immediately. */
export function operatorCommand(): Command {
  const command = new Command('operator').description('run the operator: the controller, the webhook, or both');
  return addOperatorOptions(command).action(async (options: OperatorOptions) => {
    const logger = createLogger(options.logLevel, options.logFormat ?? (process.stderr.isTTY ? 'text' : 'json'));
    switchLogLevelOnSignal(logger, options.logLevel);
    const kubeConfig = loadKubeConfig({ kubeconfig: options.kubeconfig, context: options.context });
    const namespace = ownNamespace(options.namespace, kubeConfig);
    const operator = await startOperator(options, kubeConfig, namespace, logger);
    await untilSignal((signal) => logger.info('stopping', { signal, drainSeconds: options.drainSeconds }));
    await operator.stop();
    logger.info('stopped');
  });
}

/** The file with the namespace of the pod; Kubernetes mounts it with the ServiceAccount token. */
const mountedNamespace = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

/**
 * Returns the operator's namespace: the namespace of the flag, else of the pod, else of the
 * kubeconfig's context.
 * @throws UsageError if there is none, because a default could put Secrets into a wrong namespace
 */
export function ownNamespace(flag: string | undefined, kubeConfig: KubeConfig): string {
  const namespace =
    flag ??
    process.env['POD_NAMESPACE'] ??
    (existsSync(mountedNamespace) ? readFileSync(mountedNamespace, 'utf8').trim() : undefined) ??
    kubeConfig.getContextObject(kubeConfig.getCurrentContext())?.namespace;
  if (namespace === undefined || namespace === '')
    throw new UsageError("--namespace: name the operator's namespace; neither the pod nor the kubeconfig has one");
  return namespace;
}
