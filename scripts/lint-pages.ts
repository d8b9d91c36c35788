import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lintFiles, type PlacedFinding } from '../src/explain/lint/lint-files.ts';
import { lintRules } from '../src/explain/lint/rules.ts';

const levels = {
  error: 'an error',
  warning: 'a warning',
  note: 'a note, which does not change the exit status',
};

/** Returns the pages of docs/lint by name. @param folder contains an example for each rule */
export function lintPages(folder: string): Readonly<Record<string, string>> {
  const rows = Object.entries(lintRules).map(
    ([id, { level, title }]) => `| [\`${id}\`](${id}.md) | ${level} | ${title} |`,
  );
  const index = [
    '# Rules of `injector lint`',
    generated,
    ['| rule | level | what it finds |', '|---|---|---|', ...rows].join('\n'),
  ];
  const pages = Object.entries(lintRules).map(([id, { level, title, why, repair }]) => {
    const text = readFileSync(join(folder, `${id}.yaml`), 'utf8');
    const { findings } = lintFiles([{ name: `${id}.yaml`, text }]);
    return [
      id,
      page([
        `# ${id}`,
        generated,
        title,
        `The finding is ${levels[level]}. ${why}`,
        `**What to do.** ${repair}`,
        `## Example`,
        `\`injector lint docs/lint/${id}.yaml\` reports:`,
        `\`\`\`text\n${findings.map(reported).join('\n')}\n\`\`\``,
        `\`\`\`yaml\n${text.trimEnd()}\n\`\`\``,
      ]),
    ] as const;
  });
  return Object.fromEntries([['README', page(index)], ...pages]);
}

const generated = 'Generated from the source by `make generate`.';

function page(parts: readonly string[]): string {
  return `${parts.join('\n\n')}\n`;
}

function reported({ line, column, level, object, message }: PlacedFinding): string {
  return `${line}:${column}: ${level}: ${object === '' ? '' : `${object}: `}${message}`;
}
