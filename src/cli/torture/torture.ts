import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { Command } from 'commander';
import { commandLine } from '../../api/command-line.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { podWebhooks } from '../../explain/pod-webhook.ts';
import { namesThere } from '../../explain/nearest-name.ts';
import type { JsonObject } from '../../inject/patch/json-value.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError, messageOf } from '../../kube/api-error.ts';
import { mutatingWebhooks } from '../../operator/cluster-view.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { formatTable, outputOption, plural, widthOf, writeData } from '../report/write-report.ts';
import { exitCodes, type Terminal, UnmatchedName, UsageError } from '../terminal.ts';
import { type PodPlace, podPlaces } from './pod-places.ts';
import { runTorture, type TortureCluster, type TortureReport, type TortureResult } from './run-torture.ts';
import { torturePage } from './torture-page.ts';
import { defaultTimeoutSeconds, type TorturedWebhook, webhookProblems } from './webhook-problems.ts';

interface TortureOptions extends ClusterOptions {
  readonly webhook: string;
  readonly output: 'table' | 'json' | 'yaml' | 'html';
}

/** The requests that the suite sends. */
export type TortureClient = Pick<ApiClient, 'listAll' | 'create' | 'delete'>;

/** `injector torture`: dry-runs pods that injectors have failed on, against any injector. */
export function tortureCommand(terminal: Terminal): Command {
  return clusterCommand('torture', 'try pods that injectors have failed on, against any injector, as dry runs')
    .requiredOption('--webhook <name>', 'the MutatingWebhookConfiguration of the injector')
    .addOption(outputOption(['table', 'json', 'yaml', 'html']))
    .action(async (options: TortureOptions) => {
      const report = await withCluster(options, (client) => torture(client, options.webhook, terminal));
      if (options.output === 'table') printTorture(terminal, report);
      else if (options.output === 'html') terminal.document(torturePage(report));
      else writeData(terminal, options.output, report);
      const isFailed =
        report.configurationProblems.length > 0 || report.results.some(({ result }) => result === 'Failed');
      terminal.setExitCode(isFailed ? exitCodes.negative : exitCodes.success);
    });
}

/** Runs the suite in two namespaces that it creates and removes. */
export async function torture(client: TortureClient, name: string, terminal: Terminal): Promise<TortureReport> {
  const configurations = (await client.listAll(mutatingWebhooks)).items;
  const configuration = configurations.find(({ metadata }) => metadata.name === name);
  if (configuration === undefined) {
    const names = configurations.map(({ metadata }) => metadata.name ?? '');
    throw new UnmatchedName(`--webhook: there is no MutatingWebhookConfiguration ${name}; ${namesThere(name, names)}`);
  }
  const webhooks = podWebhooks([configuration]).map(({ webhook }): TorturedWebhook => webhook);
  if (webhooks.length === 0) throw new UsageError(`--webhook: MutatingWebhookConfiguration ${name} selects no pods`);
  const run = `injector-torture-${randomBytes(4).toString('hex')}`;
  const names = { injected: run, bare: `${run}-bare` };
  const places = podPlaces(webhooks, names);
  if (typeof places === 'string')
    throw new UsageError(`--webhook: MutatingWebhookConfiguration ${name} ${places}; its selectors leave no choice`);
  const { webhook, injected, bare } = places;
  const { timeoutSeconds = defaultTimeoutSeconds } = webhook as TorturedWebhook;
  const results = await inNamespaces(client, { [names.injected]: injected, [names.bare]: bare }, terminal, (signal) => {
    const cluster = {
      injected: creator(client, names.injected, injected, signal),
      bare: creator(client, names.bare, bare, signal),
      now: () => performance.now(),
    };
    return runTorture(cluster, timeoutSeconds, (each) => {
      terminal.progress(`${each.case}: ${each.result}`);
    });
  });
  terminal.progress('');
  const time = new Date().toISOString();
  const configurationProblems = webhookProblems(webhooks);
  return { webhookConfiguration: name, webhook: webhook.name, time, configurationProblems, results };
}

/** Runs `work` with two namespaces, which it creates and removes, also after an interrupt. */
async function inNamespaces<Result>(
  client: TortureClient,
  places: Readonly<Record<string, PodPlace>>,
  terminal: Terminal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const interrupt = new AbortController();
  const stopListening = terminal.onInterrupt(() => {
    interrupt.abort(new UsageError('interrupted; its namespaces are removed'));
  });
  const created: string[] = [];
  try {
    for (const [name, { namespace: labels }] of Object.entries(places)) {
      await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
      created.push(name);
      await client
        .create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: name } })
        .catch((error: unknown) => {
          // The controller of ServiceAccounts was faster.
          if (!(error instanceof ApiError && error.code === 409)) throw error;
        });
    }
    return await work(interrupt.signal);
  } finally {
    stopListening();
    for (const name of created) {
      await client.delete({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }).catch((error: unknown) => {
        const remedy = commandLine`kubectl delete namespace ${name}`;
        terminal.error(`namespace ${name} is not removed (${messageOf(error)}); remove it: ${remedy}`);
      });
    }
  }
}

/** Returns a function that creates a pod as a dry run. A webhook may take up to 30 seconds. */
function creator(
  client: TortureClient,
  namespace: string,
  { pod: labels }: PodPlace,
  signal: AbortSignal,
): TortureCluster['injected'] {
  const others = ([key]: [string, unknown]): boolean => !Object.hasOwn(labels, key);
  return async (pod) => {
    const { metadata, spec } = pod as unknown as KubernetesObject & { spec: JsonObject };
    const labelled = { ...metadata, namespace, labels: { ...metadata.labels, ...labels } };
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: labelled, spec };
    const answer: KubernetesObject = await client.create(object, { dryRun: true, signal, timeoutMs: 40_000 });
    const kept = Object.entries(answer.metadata.labels ?? {}).filter(others);
    return { ...answer, metadata: { ...answer.metadata, labels: Object.fromEntries(kept) } };
  };
}

/** Prints a report for people. */
export function printTorture(terminal: Terminal, report: TortureReport): void {
  const { results, configurationProblems } = report;
  const columns = ['POD', 'RESULT', 'INJECTED', 'TIME'];
  const row = (each: TortureResult): string[] => {
    return [each.case, each.result, each.injected ? 'yes' : 'no', `${each.milliseconds} ms`];
  };
  const notes = ({ result, about, problems }: TortureResult): string[] => {
    return result === 'Failed' ? [`${about}:`, ...problems] : [...problems];
  };
  terminal.out(formatTable(results, { columns, row, notes }, widthOf(terminal)));
  terminal.out(configurationProblems.map((problem) => `webhook ${problem}`));
  const count = (result: TortureResult['result']): number => results.filter((each) => each.result === result).length;
  terminal.out(
    `${report.webhookConfiguration}: ${plural(count('Passed'), 'pod')} passed, ${count('Failed')} failed, ` +
      `${count('NotApplicable')} not applicable on this API server, ${plural(configurationProblems.length, 'problem')} of the webhook`,
  );
}
