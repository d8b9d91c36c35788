import { Command, Option } from 'commander';
import { stringify } from 'yaml';
import { briefTagManifest, tagManifest } from '../tags/tag-manifest.ts';
import type { Terminal } from '../terminal.ts';

interface GenerateOptions {
  readonly revision: string;
  readonly autoInjectNamespaces?: boolean;
  readonly output: 'yaml' | 'json';
}

/** `injector tag generate`: the RevisionTag for a repository. It asks no cluster: what a cluster would refuse, it refuses when it is applied. */
export function tagGenerateCommand(terminal: Terminal): Command {
  return new Command('generate')
    .description('print the RevisionTag that `tag set` would apply; needs no cluster')
    .argument('<tag>', 'the name that namespaces follow')
    .requiredOption('-r, --revision <revision>', 'the revision that it leads to')
    .option('--auto-inject-namespaces', 'with tag default: also pods without any label, in namespaces without any')
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['yaml', 'json']).default('yaml'))
    .addOption(new Option('--overwrite', 'nothing is written, so it means nothing; istioctl has it').hideHelp())
    .addOption(new Option('-y, --skip-confirmation', 'nothing is asked; istioctl has it').hideHelp())
    .action((name: string, { revision, autoInjectNamespaces, output }: GenerateOptions) => {
      const manifest = briefTagManifest(tagManifest({ name, revision, autoInjectNamespaces }));
      terminal.out(output === 'json' ? `${JSON.stringify(manifest, undefined, 2)}\n` : stringify(manifest));
    });
}
