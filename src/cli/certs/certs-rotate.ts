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
import { healthLines, isAlive, readOperatorHealth } from '../usage/operator-health.ts';

interface RotateOptions extends ClusterOptions {
  readonly ca?: true;
  readonly force?: true;
  readonly wait?: true;
  /** Seconds. */
  readonly timeout: number;
}

/** How often the status is read while it is waited for. Milliseconds. */
const interval = 500;

/** `injector certs rotate`: asks the operator for a renewal by an annotation; the operator does it as it does every renewal. */
export function certsRotateCommand(terminal: Terminal): Command {
  return clusterCommand(
    'rotate',
    'ask for a new serving certificate now, or for a new authority, without losing an admission',
  )
    .argument('<name>', 'the InjectorConfig')
    .option('--ca', 'a new authority too, with overlap')
    .option(
      '--force',
      'with --ca, after a theft: drop the old authority once replicas could follow, not only when its last certificate ends',
    )
    .option('--wait', 'until it is done, showing the phases')
    .option('--timeout <seconds>', 'with --wait: how long at most', parseSeconds, 300)
    .action(async (name: string, options: RotateOptions) => {
      const target = targetOf(options);
      const nonce = randomUUID();
      await withCluster(options, async (client) => {
        const [config] = await readConfigs(client, [name]);
        const annotations = { [rotateAnnotation]: formatRotateRequest({ target, nonce }) };
        await client.patch({ apiVersion, kind: injectorConfigKind, metadata: { name } }, 'merge', {
          metadata: { annotations },
        });
        terminal.out(`InjectorConfig ${name}: asked for ${described[target]}\n`);
        const health = await readOperatorHealth(client, [config?.spec?.operatorClass ?? defaultOperatorClass]);
        if (!isAlive(health)) terminal.error(`${healthLines(health).join('; ')}; it waits for an operator that leads`);
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
        terminal.out(`InjectorConfig ${name}: done\n`);
      });
    });
}

const described: Record<RotateTarget, string> = {
  leaf: 'a new serving certificate',
  authority: 'a new authority',
  'authority-force': 'a new authority; the old one is dropped as soon as replicas could follow',
};

function targetOf({ ca, force }: RotateOptions): RotateTarget {
  if (ca === true) return force === true ? 'authority-force' : 'authority';
  if (force === true) throw new UsageError('--force: goes with --ca; a serving certificate is always renewed at once');
  return 'leaf';
}

interface FollowOptions {
  readonly nonce: string;
  /** Reads the InjectorConfig as it is now; undefined when it is gone. */
  readonly read: () => Promise<ReadConfig | undefined>;
  /** Told each time that the phase or the answer has changed. */
  readonly onProgress: (line: string) => void;
  /** Waits before the next look; false when there is no time left. */
  readonly pause: () => Promise<boolean>;
}

/**
 * Follows a request for a renewal to its end, by `status.certificate.rotateRequest` alone.
 * @returns why it was not done; undefined when it was
 */
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
      ? 'no operator has answered in time: is one of its operatorClass running, and not paused? The request stays and is carried out when there is one'
      : `still in phase ${phase}; the rotation goes on without this command, injector certs status shows it`;
  }
}
