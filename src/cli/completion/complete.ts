import { type Argument, Command, type Option } from 'commander';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { injectorConfigs, namespaces, revisionTags } from '../../operator/cluster-view.ts';
import { type ClusterOptions, withCluster } from '../cluster-options.ts';
import { revisionOf } from '../kill-switch/switch-targets.ts';
import type { Terminal } from '../terminal.ts';

/** How long the cluster may take to say which names there are. Milliseconds. */
const patience = 1500;

const nameOf = ({ metadata }: KubernetesObject): string => metadata.name ?? '';
/** Arguments and options whose values are names of the cluster, by their own names; a bare name is an InjectorConfig's. */
const liveNames = new Map([
  ['tag', [revisionTags, nameOf]],
  ['revision', [injectorConfigs, revisionOf]],
  ['name', [injectorConfigs, nameOf]],
  ['namespace', [namespaces, nameOf]],
] as const);

/** Makes the part of the program that belongs to a command; the whole for a name that is none. */
type Load = (command: string) => Promise<Command>;

/** `injector __complete`: what the scripts of `injector completion` call; a word a line, nothing where none is known. */
export function completeCommand(terminal: Terminal, names: readonly string[], load: Load): Command {
  return new Command('__complete')
    .argument('[words...]', 'the words before')
    .option('--current <word>', 'the beginning of the word that is wanted', '')
    .action(async (words: string[], { current }: { current: string }) => {
      const [first] = words;
      const found = first === undefined ? names : await wordsAfter(words, current.startsWith('-'), await load(first));
      for (const word of [...new Set(found)].sort()) if (word.startsWith(current)) terminal.out(`${word}\n`);
    });
}

/** The words that may come after these. */
async function wordsAfter(words: readonly string[], wantsOption: boolean, program: Command): Promise<string[]> {
  let command = program;
  let option: Option | undefined;
  let operands = 0;
  const given: Record<string, string> = {};
  for (const word of words) {
    const below = command.commands.find((each) => [each.name(), ...each.aliases()].includes(word));
    if (word.startsWith('-')) {
      option = command.options.find(({ short, long }) => [short, long].includes(word));
      if (option?.isBoolean() === true || option?.negate === true) option = undefined;
    } else if (option !== undefined) {
      given[option.attributeName()] = word;
      if (!option.variadic) option = undefined;
    } else if (below !== undefined) command = below;
    else operands += 1;
  }
  if (wantsOption) return ['--help', ...command.options.flatMap(({ hidden, long }) => (hidden ? [] : (long ?? [])))];
  if (option !== undefined) return valuesOf(option, option.attributeName(), given);
  const { registeredArguments: known, commands } = command;
  const argument = known[operands] ?? (known.at(-1)?.variadic === true ? known.at(-1) : undefined);
  if (argument === undefined) return commands.map((each) => each.name());
  return valuesOf(argument, argument.name(), given);
}

/** The values of an option or argument: its choices, or names that the cluster has. */
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
    // A shell that completes has no place for errors.
    return [];
  }
}
