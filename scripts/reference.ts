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

/** A table of names, in order; columns between the first and the last are what stands before a colon. */
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

/** The help of a command, as a terminal of 80 columns shows it, and of those below it. */
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

/** The pages of docs/reference by name. Each is made of the one table in the code that the program itself goes by. */
export const pages: Readonly<Record<string, readonly string[]>> = {
  commands: ['# Commands', ...helpOf(await createProgram(processTerminal))],
  'exit-status': ['# Exit status of commands', table('| exit status | means |', Object.fromEntries(codes) as Rows)],
  conditions: [
    '# Conditions and reasons',
    'Of InjectorConfigs and RevisionTags. [What to do](../injector-config.md#what-its-conditions-say).',
    table('| condition | True means |', conditions),
    '## Reasons',
    table('| reason | of condition | |', { ...conditionReasons, ...prefixed('CertificateReady: ', chainFaults) }),
    '## Reasons of admissions',
    'In metrics, the audit log and warnings; those of refusals are also reasons of `InjectionFailing`. Otherwise it is `Injected`, or `NotAPod`, `SubResource` or `NotACreation`.',
    table('| reason | the pod is | because |', {
      ...prefixed('left alone: ', skipReasons),
      ...prefixed('refused: ', failureReasons),
    }),
  ],
  events: [
    '# Events',
    'Beside these, whatever somebody has to act on is a Warning with the [reason of its condition](conditions.md), and a pod that asked for injection and has none gets the reason of the decision.',
    table('| reason | what happened |', { ...events, ...rolloutEvents }),
  ],
  metrics: [
    '# Metrics',
    'Beside those of the process (`process_*`, `nodejs_*`). Labels are bounded. [How to read them](../observability.md#metrics).',
    table('| metric | type | labels | |', Object.fromEntries(metrics) as Rows),
  ],
  'labels-and-annotations': [
    '# Labels and annotations',
    'Those of this project; the ones by which pods and namespaces ask for injection are `spec.webhook.keys` ([fields](../injector-config-fields.md)).',
    table('| name | of | says |', Object.fromEntries(names) as Rows),
  ],
};
