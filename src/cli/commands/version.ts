import { Command } from 'commander';
import type { Terminal } from '../terminal.ts';
import { version } from '../version.ts';

/** `injector version`: what a bug report needs. */
export function versionCommand(terminal: Terminal): Command {
  return new Command('version')
    .description('print the version')
    .option('-o, --output <format>', 'json for programs')
    .action((options: { output?: string }) => {
      const facts = { version, node: process.version, platform: `${process.platform}/${process.arch}` };
      terminal.out(
        options.output === 'json'
          ? `${JSON.stringify(facts)}\n`
          : `injector ${facts.version} (node ${facts.node}, ${facts.platform})\n`,
      );
    });
}
