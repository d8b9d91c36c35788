import type { Command } from 'commander';
import { group } from '../src/api/injector-config/injector-config.ts';
import { ownNames } from '../src/api/own-names.ts';
import { chainFaults } from '../src/certs/verify-chain.ts';
import { createProgram } from '../src/cli/program.ts';
import { exitCodes, exitMeanings, processTerminal } from '../src/cli/terminal.ts';
import { offeredMetrics } from '../src/cli/testdata/offered-metrics.ts';
import { failureReasons, skipReasons } from '../src/inject/injection-result.ts';
import { conditionReasons, conditions, events } from '../src/operator/reasons.ts';
import { rolloutEvents } from '../src/rollout/transitions.ts';

type Rows = Readonly<Record<string, string>>;

/** Returns a sorted table of names. Parts that end with `: ` fill the middle columns. */
function table(columns: string, rows: Rows): string {
  const between = columns.split('|').length - 4;
  const lines = Object.entries(rows).map(([name, text]) => {
    const parts = text.split(': ');
    return `| ${[`\`${name}\``, ...parts.slice(0, between), parts.slice(between).join(': ')].join(' | ')} |`;
  });
  return [columns, columns.replaceAll(/[^|]+/g, '---'), ...lines.sort()].join('\n');
}

function prefixed(prefix: string, rows: Rows): Rows {
  return Object.fromEntries(Object.entries(rows).map(([name, text]) => [name, prefix + text]));
}

/** Returns the help of a command and its subcommands, formatted for 80 columns. */
function helpOf(command: Command, above = ''): string[] {
  const name = `${above}${command.name()}`;
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 80 }).outputHelp();
  const own = `## ${name}\n\n\`\`\`\n$ ${name} --help\n${text.trimEnd()}\n\`\`\``;
  return [own, ...command.commands.flatMap((below) => helpOf(below, `${name} `))];
}

const metrics = offeredMetrics().map(({ name, type, labels, help }) => [
  name,
  `${type}: ${labels.join(', ')}: ${help}`,
]);
const codes = Object.entries(exitMeanings).map(([name, text]) => [exitCodes[name as keyof typeof exitCodes], text]);
const names = Object.entries(ownNames).map(([name, text]) => [`${group}/${name}`, text]);

/** The pages of docs/reference by name, from the tables that the program itself uses. */
export const pages: Readonly<Record<string, readonly string[]>> = {
  commands: ['# Commands', ...helpOf(await createProgram(processTerminal))],
  'exit-status': ['# Exit status of commands', table('| exit status | meaning |', Object.fromEntries(codes) as Rows)],
  conditions: [
    '# Conditions and reasons',
    'The conditions of InjectorConfigs and RevisionTags. [InjectorConfig](../injector-config.md#what-its-conditions-say) says what to do.',
    table('| condition | meaning of True |', conditions),
    '## Reasons',
    table('| reason | condition | meaning |', { ...conditionReasons, ...prefixed('CertificateReady: ', chainFaults) }),
    '## Reasons of admissions',
    'Metrics, the audit log and warnings contain these reasons. The reasons of refused pods are also reasons of condition `InjectionFailing`. Other requests have the reason `Injected`, `NotAPod`, `SubResource` or `NotACreation`.',
    table('| reason | the pod is | because |', {
      ...prefixed('not injected: ', skipReasons),
      ...prefixed('refused: ', failureReasons),
    }),
  ],
  events: [
    '# Events',
    'The operator also writes Warning Events with the [reason of a condition](conditions.md) that needs an action. A pod that requested injection but was not injected gets an Event with the reason of the decision.',
    table('| reason | what happened |', { ...events, ...rolloutEvents }),
  ],
  metrics: [
    '# Metrics',
    'The metrics of the operator; `/metrics` also has those of the process (`process_*`, `nodejs_*`). All labels are bounded. [Observability](../observability.md#metrics) explains how to use them.',
    table('| metric | type | labels | meaning |', Object.fromEntries(metrics) as Rows),
  ],
  'labels-and-annotations': [
    '# Labels and annotations',
    'The labels and annotations of this project. The keys with which pods and namespaces request injection are in `spec.webhook.keys` ([fields](../injector-config-fields.md)).',
    table('| name | object | content |', Object.fromEntries(names) as Rows),
  ],
};
