import type { Command } from 'commander';
import { adoptionAnnotation } from '../../api/names.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { namespaces } from '../../operator/cluster-view.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { parseSeconds } from '../option-values.ts';
import { checkRights } from '../precautions.ts';
import { plural } from '../report/write-report.ts';
import { exitCodes, type Terminal, UsageError } from '../terminal.ts';
import { adoptionOf } from './adoption.ts';
import { giveBack, istioConfigurations, moveRights, replace, valueWithoutWebhook } from './moves.ts';
import { readInjectors } from './prove.ts';
import { enough, newPodsIn, untilAnsweredBy } from './sample-pods.ts';
import { setStandby } from './standby.ts';

interface BackOptions extends ClusterOptions {
  readonly timeout: number;
}

/** `injector adopt back`: gives namespaces back to Istio's injector; needs no operator. */
export function backCommand(terminal: Terminal): Command {
  return clusterCommand('back', "give namespaces back to Istio's injector, with the labels and selectors of before")
    .argument('[namespace...]', 'the namespaces (default: all, also after `adopt finish`)')
    .option('--timeout <seconds>', 'how long to wait for the answers of all namespaces together', parseSeconds, 60)
    .action((names: string[], options: BackOptions) =>
      withCluster(options, (client) => back(client, names, options, terminal)),
    );
}

async function back(
  client: ApiClient,
  wanted: readonly string[],
  options: BackOptions,
  terminal: Terminal,
): Promise<void> {
  await checkRights(client, moveRights);
  const istio = await istioConfigurations(client);
  const isFinished = istio.some((each) => adoptionOf(each).isDeactivated);
  if (isFinished && wanted.length > 0)
    throw new UsageError(
      "`adopt finish` has deactivated Istio's webhooks: name no namespace, to give all of them back",
    );
  const bySelectors = istio.flatMap((each) => adoptionOf(each).namespaces);
  const all = (await client.listAll(namespaces)).items;
  const byLabel = all.filter(({ metadata }) => metadata.annotations?.[adoptionAnnotation] !== undefined);
  const moved = [...new Set([...bySelectors, ...byLabel.map(({ metadata }) => metadata.name ?? '')])].sort();
  const names = wanted.length > 0 ? wanted : moved;
  if (istio.length === 0) {
    await setStandby(client, true);
    terminal.error([
      "this injector stands by, but Istio's webhook does not exist, so nothing was given back",
      `apply Istio's chart without ${valueWithoutWebhook}, and run \`injector adopt back\` again`,
    ]);
    terminal.setExitCode(exitCodes.negative);
    return;
  }
  if (isFinished) {
    // Ours must leave out what Istio's injector injects before that injects again.
    await setStandby(client, true);
    for (const each of istio) await replace(client, each, { ...adoptionOf(each), isDeactivated: false });
    terminal.out("Istio's webhooks are active again; this injector stands by");
  }
  for (const name of names.filter((each) => !moved.includes(each))) terminal.error(`namespace ${name}: was not moved`);
  const given = names.filter((each) => moved.includes(each));
  // Give all back before any question, which may take long.
  for (const name of given) await giveBack(client, name);
  // The labels of namespaces decide which injector is due. Ours may not exist any more.
  const { facts } = await readInjectors(client, [], undefined, []);
  const since = performance.now();
  for (const name of given) {
    // One write gives back all pods of a namespace, so a few of them show who answers.
    const samples = (await newPodsIn(client, facts, name, enough)).filter(({ isInjected }) => isInjected);
    const problem = await untilAnsweredBy('Istio', samples, facts, options.timeout, true, since);
    if (problem !== undefined) terminal.setExitCode(exitCodes.negative);
    const answers = `Istio's injector answers for new pods of ${plural(samples.length, 'workload')}`;
    terminal.out(`namespace ${name}: given back${problem === undefined ? `; ${answers}` : `, but ${problem}`}`);
  }
  if (names.length === 0 && !isFinished) terminal.out('nothing to give back: no namespace was moved');
}
