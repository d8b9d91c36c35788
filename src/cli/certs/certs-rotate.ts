import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import { apiVersion, defaultOperatorClass, injectorConfigKind } from '../../api/injector-config/injector-config.ts';
import { formatRotateRequest, rotateAnnotation, type RotateTarget } from '../../api/injector-config/rotate-request.ts';
import { readConfigs, type ReadConfig } from './read-certificates.ts';
import { clusterCommand, withCluster, type ClusterOptions } from '../cluster-options.ts';
import { parseSeconds } from '../option-values.ts';
import { type Terminal, UsageError } from '../terminal.ts';
import { injectorConfigs } from '../../operator/cluster-view.ts';
import { rotationRefusal } from '../../operator/certificates/rotate-requests.ts';
import { healthLines, isAlive, readOperatorHealth } from '../usage/operator-health.ts';

interface RotateOptions extends ClusterOptions {
  readonly ca?: true;
  readonly force?: true;
  readonly wait?: true;
  /** The time limit of --wait, in seconds. */
  readonly timeout: number;
}

/** How often --wait reads the status, in milliseconds. */
const interval = 500;

/** `injector certs rotate`: requests a renewal from the operator through an annotation. */
export function certsRotateCommand(terminal: Terminal): Command {
  return clusterCommand('rotate', 'request a new serving certificate, or a new authority, without failing a request')
    .argument('<name>', 'the InjectorConfig')
    .option('--ca', 'also request a new authority; the API server trusts both authorities for a while')
    .option(
      '--force',
      'with --ca, if the key was stolen: stop trusting the old authority when replicas have had time to load the new certificate, not when its last certificate expires',
    )
    .option('--wait', 'wait until the rotation is complete, and print its phases')
    .option('--timeout <seconds>', 'with --wait: the time limit', parseSeconds, 300)
    .action(async (name: string, options: RotateOptions) => {
      const target = targetOf(options);
      const nonce = randomUUID();
      await withCluster(options, async (client) => {
        const [config] = await readConfigs(client, [name]);
        const operatorClass = config?.spec?.operatorClass ?? defaultOperatorClass;
        const health = await readOperatorHealth(client, [operatorClass]);
        const processes = [...health.leaders, ...health.replicas];
        const namespace = processes.find((each) => each.operatorClass === operatorClass)?.namespace ?? 'NAMESPACE';
        const { provider = 'SelfSigned', ...source } = config?.spec?.certificate ?? {};
        const refusal = rotationRefusal(name, { provider, ...source }, target, namespace);
        if (refusal !== undefined) throw new Error(`InjectorConfig ${name}: ${refusal}`);
        const annotations = { [rotateAnnotation]: formatRotateRequest({ target, nonce }) };
        await client.patch({ apiVersion, kind: injectorConfigKind, metadata: { name } }, 'merge', {
          metadata: { annotations },
        });
        terminal.out(`InjectorConfig ${name}: requested ${described[target]}`);
        if (!isAlive(health))
          terminal.error(`${healthLines(health).join('; ')}; the request waits until an operator becomes the leader`);
        if (options.wait !== true) return;
        const deadline = performance.now() + options.timeout * 1000;
        const failure = await followRotation({
          nonce,
          read: () => client.find<ReadConfig>(injectorConfigs, name),
          onProgress: (line) => terminal.error(line),
          pause: async () => {
            await setTimeout(interval);
            return performance.now() < deadline;
          },
        });
        if (failure !== undefined) throw new Error(`InjectorConfig ${name}: ${failure}`);
        terminal.out(`InjectorConfig ${name}: done`);
      });
    });
}

const described: Record<RotateTarget, string> = {
  leaf: 'a new serving certificate',
  authority: 'a new authority',
  'authority-force': 'a new authority; the old authority is trusted only until replicas could follow',
};

function targetOf({ ca, force }: RotateOptions): RotateTarget {
  if (ca === true) return force === true ? 'authority-force' : 'authority';
  if (force === true)
    throw new UsageError('--force: use it only with --ca; a serving certificate is always renewed immediately');
  return 'leaf';
}

interface FollowOptions {
  readonly nonce: string;
  /** Reads the InjectorConfig. Returns undefined if the InjectorConfig was deleted. */
  readonly read: () => Promise<ReadConfig | undefined>;
  /** Receives a line after each change of the phase or of the operator's answer. */
  readonly onProgress: (line: string) => void;
  /** Waits before the next read. Returns false after the time limit. */
  readonly pause: () => Promise<boolean>;
}

/** Follows a rotation request. @returns the reason of a failure; undefined after success */
export async function followRotation({ nonce, read, onProgress, pause }: FollowOptions): Promise<string | undefined> {
  let before = '';
  for (;;) {
    const config = await read();
    if (config === undefined) return 'the InjectorConfig was deleted';
    const { phase = 'None', rotateRequest } = config.status?.certificate ?? {};
    const answer = rotateRequest?.nonce === nonce ? rotateRequest : undefined;
    const line = `${answer === undefined ? 'waiting for the operator' : answer.state.toLowerCase()}, phase ${phase}`;
    if (line !== before) onProgress(line);
    before = line;
    if (answer?.state === 'Done') return undefined;
    if (answer?.state === 'Refused') return answer.message ?? 'the operator refused';
    if (await pause()) continue;
    return answer === undefined
      ? 'no operator has answered in time: check that an operator of its operatorClass is running, and that spec.paused is not set. The request remains and is carried out later'
      : `still in phase ${phase}; the rotation continues without this command, \`injector certs status\` shows its progress`;
  }
}
