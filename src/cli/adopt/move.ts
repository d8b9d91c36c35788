import { type Command, Option } from 'commander';
import { isJsonObject } from '../../inject/patch/json-value.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { namesThere } from '../../explain/nearest-name.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { configMaps, namespaces } from '../../operator/cluster-view.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { messageOf, readNamedFile } from '../files.ts';
import { parseSeconds } from '../option-values.ts';
import { checkRights } from '../precautions.ts';
import { plural } from '../report/write-report.ts';
import { exitCodes, type Terminal, UnmatchedName, UsageError } from '../terminal.ts';
import { giveBack, hasInjectionLabel, moveByLabel, moveBySelectors, moveRights } from './moves.ts';
import { type Proof, unprovenIn } from './proof.ts';
import { readInjectors } from './prove.ts';
import { samplePods, untilAnsweredBy } from './sample-pods.ts';
import { isOnStandby } from './standby.ts';

interface MoveOptions extends ClusterOptions {
  readonly all?: true;
  readonly proof: string;
  readonly by?: 'label' | 'selectors';
  readonly timeout: number;
}

/** `injector adopt move`: lets this injector answer for namespaces, one after the other. */
export function moveCommand(terminal: Terminal): Command {
  return clusterCommand('move', "move proven namespaces from Istio's injector to this one")
    .argument('[namespace...]', 'the namespaces to move')
    .option('--all', 'all namespaces with injected pods in the proof')
    .requiredOption('--proof <file>', 'the output of `injector adopt prove -o json`, at most one hour old')
    .addOption(
      new Option('--by <way>', 'how to move (default: by label if the namespace has one)').choices([
        'label',
        'selectors',
      ]),
    )
    .option('--timeout <seconds>', 'how long to wait for the answers of a namespace', parseSeconds, 60)
    .action(async (names: string[], options: MoveOptions) => {
      if ((options.all === true) === names.length > 0)
        throw new UsageError('name the namespaces to move, or --all, but not both');
      const proof = parseProof(await readNamedFile(terminal, '--proof', options.proof), options.proof);
      await withCluster(options, (client) => move(client, names, proof, options, terminal));
    });
}

function parseProof(text: string, file: string): Proof {
  const refuse = (): never => {
    throw new UsageError(`--proof ${file}: is not an output of \`injector adopt prove -o json\``);
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse();
  }
  if (!isJsonObject(value) || !isJsonObject(value.proof) || !Array.isArray(value.workloads)) return refuse();
  const { time, configurations, configMaps: versions, notCompared } = value.proof;
  const isWhole = typeof time === 'string' && isJsonObject(configurations) && isJsonObject(versions);
  return isWhole && Array.isArray(notCompared) ? (value as unknown as Proof) : refuse();
}

async function move(
  client: ApiClient,
  wanted: readonly string[],
  proof: Proof,
  options: MoveOptions,
  terminal: Terminal,
): Promise<void> {
  await checkRights(client, moveRights);
  const remarks: string[] = [];
  const { facts, configurations } = await readInjectors(client, undefined, undefined, remarks);
  terminal.error(remarks);
  const injected = proof.workloads.filter(({ before }) => before.outcome === 'Injected');
  const names = options.all === true ? [...new Set(injected.map((each) => each.namespace))].sort() : wanted;
  const isWaiting = facts.ours.every(isOnStandby);
  const outdated =
    (await outdatedBy(client, proof, configurations)) ??
    (isWaiting ? undefined : 'the webhooks of this injector are not on standby: run `injector adopt standby`') ??
    firstOf(names, (name) => unprovenIn(proof, name));
  if (outdated !== undefined) {
    terminal.error(`nothing was moved: ${outdated}`);
    terminal.setExitCode(exitCodes.refused);
    return;
  }
  for (const name of names) {
    const namespace = await client.find(namespaces, name);
    if (namespace === undefined)
      throw new UnmatchedName(`there is no namespace ${name}; ${namesThere(name, facts.namespaces.keys())}`);
    const code = await moveOne(client, namespace, facts, options, terminal);
    terminal.setExitCode(code);
    if (code !== exitCodes.success) return;
  }
}

function firstOf(names: readonly string[], problemOf: (name: string) => string | undefined): string | undefined {
  for (const name of names) {
    const problem = problemOf(name);
    if (problem !== undefined) return `namespace ${name}: ${problem}`;
  }
  return undefined;
}

const hour = 3_600_000;

/** Says why a proof no longer holds; undefined if it does. */
async function outdatedBy(
  client: ApiClient,
  { proof }: Proof,
  published: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const again = 'run `injector adopt prove` again';
  const age = Date.now() - Date.parse(proof.time);
  if (!(age <= hour)) return `the proof of ${proof.time} is more than one hour old: ${again}`;
  for (const [name, hash] of Object.entries(proof.configurations)) {
    if (published[name] !== hash)
      return `InjectorConfig ${name} publishes ${published[name] ?? 'nothing'}, and configuration ${hash} is proven: ${again}`;
  }
  for (const [place, version] of Object.entries(proof.configMaps)) {
    const [namespace = '', name = ''] = place.split('/');
    const found = await client.find(configMaps, name, { namespace });
    if (found?.metadata.resourceVersion !== version) return `ConfigMap ${place} has changed since the proof: ${again}`;
  }
  return undefined;
}

/** Moves one namespace, and takes it back if a new pod would be bare, different or refused. */
async function moveOne(
  client: ApiClient,
  namespace: KubernetesObject,
  facts: Parameters<typeof samplePods>[1],
  { by, timeout }: MoveOptions,
  terminal: Terminal,
): Promise<number> {
  const { name = '', labels = {} } = namespace.metadata;
  const samples = await samplePods(client, facts, name);
  if (samples.length === 0) {
    terminal.error(`namespace ${name}: Istio's injector injects no new pod of it; nothing was moved`);
    return exitCodes.unknown;
  }
  const way = by ?? (hasInjectionLabel(labels) ? 'label' : 'selectors');
  const plan =
    way === 'label'
      ? moveByLabel(client, namespace, facts, samples)
      : await moveBySelectors(client, namespace, facts, samples);
  if ('refusal' in plan) {
    terminal.error(plan.refusal);
    return exitCodes.refused;
  }
  terminal.error(plan.remarks);
  const failure = await plan.write().then(() => undefined, messageOf);
  const problem = failure ?? (await untilAnsweredBy('ours', samples, facts, timeout));
  if (problem === undefined) {
    terminal.out(
      `namespace ${name}: moved ${plan.what}; new pods of ${plural(samples.length, 'workload')} are the same`,
    );
    return exitCodes.success;
  }
  await giveBack(client, name);
  const left = await untilAnsweredBy('Istio', samples, facts, timeout, true);
  terminal.error(`namespace ${name}: taken back, because ${problem}${left === undefined ? '' : `; ${left}`}`);
  return exitCodes.negative;
}
