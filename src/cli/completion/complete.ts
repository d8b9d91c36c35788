import { type Argument, Command, type Option } from 'commander';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { injectorConfigs, namespaces, revisionTags } from '../../operator/cluster-view.ts';
import { type ClusterOptions, withCluster } from '../cluster-options.ts';
import { storedRevision } from '../kill-switch/switch-targets.ts';
import type { Terminal } from '../terminal.ts';

/** How long to wait for the names from the cluster, in milliseconds. */
const patience = 1500;

const nameOf = ({ metadata }: KubernetesObject): string => metadata.name ?? '';
/** Arguments and options whose values are names of objects; `name` is an InjectorConfig. */
const liveNames = new Map([
  ['tag', [revisionTags, nameOf]],
  ['revision', [injectorConfigs, storedRevision]],
  ['name', [injectorConfigs, nameOf]],
  ['namespace', [namespaces, nameOf]],
] as const);

/** Creates the part of the program for a command, or the whole program for an unknown command. */
type Load = (command: string) => Promise<Command>;

/** `injector __complete`: prints the possible next words, one per line, for completion scripts. */
export function completeCommand(terminal: Terminal, names: readonly string[], load: Load): Command {
  return new Command('__complete')
    .argument('[words...]', 'the preceding words')
    .option('--current <word>', 'the beginning of the word to complete', '')
    .action(async (words: string[], { current }: { current: string }) => {
      const [first] = words;
      const found = first === undefined ? names : await wordsAfter(words, current.startsWith('-'), await load(first));
      for (const word of [...new Set(found)].sort()) if (word.startsWith(current)) terminal.out(word);
    });
}

async function wordsAfter(words: readonly string[], wantsOption: boolean, program: Command): Promise<string[]> {
  let command = program;
  let option: Option | undefined;
  let operands = 0;
  const values: Record<string, string> = {};
  for (const word of words) {
    const below = command.commands.find((each) => [each.name(), ...each.aliases()].includes(word));
    if (word.startsWith('-')) {
      option = command.options.find(({ short, long }) => [short, long].includes(word));
      if (option?.isBoolean() === true || option?.negate === true) option = undefined;
    } else if (option !== undefined) {
      values[option.attributeName()] = word;
      if (!option.variadic) option = undefined;
    } else if (below !== undefined) command = below;
    else operands += 1;
  }
  if (wantsOption) return ['--help', ...command.options.flatMap(({ hidden, long }) => (hidden ? [] : (long ?? [])))];
  if (option !== undefined) return valuesOf(option, option.attributeName(), values);
  const { registeredArguments: known, commands } = command;
  const argument = known[operands] ?? (known.at(-1)?.variadic === true ? known.at(-1) : undefined);
  if (argument === undefined) return commands.map((each) => each.name());
  return valuesOf(argument, argument.name(), values);
}

/** Returns the choices of an option or argument, or names from the cluster. */
async function valuesOf({ argChoices }: Option | Argument, name: string, options: ClusterOptions): Promise<string[]> {
  if (argChoices !== undefined) return argChoices;
  const live = liveNames.get(name as 'tag');
  if (live === undefined) return [];
  const [resource, text] = live;
  try {
    return await withCluster(options, async (client) => {
      const { items } = await client.list(resource, { limit: 500, timeoutMs: patience });
      return items.map(text);
    });
  } catch {
    // A completion script cannot show errors.
    return [];
  }
}
