/**
 * Checks the call traces of docs/architecture.md: each has at most 15 functions; each function is
 * in its file, and its parent in the list calls it. `later:` marks a call by a queue or a handler.
 */
import { existsSync, readFileSync } from 'node:fs';

interface Hop {
  readonly depth: number;
  readonly isLater: boolean;
  readonly name: string;
  readonly file: string;
}

const mostHops = 15;
const page = readFileSync('docs/architecture.md', 'utf8');
const [, walks = ''] = page.split(/^## Six walks$/m);
const mistakes: string[] = [];
const sections = walks.split(/^### /m).slice(1);
if (sections.length !== 6) mistakes.push(`docs/architecture.md has ${sections.length} walks, not 6`);
let checked = 0;

for (const section of sections) {
  const [title = ''] = section.split('\n');
  const hops = hopsOf(section);
  if (hops.length < 3 || hops.length > mostHops) mistakes.push(`${title}: ${hops.length} hops, not 3 to ${mostHops}`);
  for (const [index, hop] of hops.entries()) {
    checked += 1;
    const where = `${title}: ${hop.name} (${hop.file})`;
    if (bodyOf(hop) === undefined) mistakes.push(`${where} does not exist`);
    if (index === 0 || hop.isLater) continue;
    const caller = hops.slice(0, index).findLast(({ depth }) => depth < hop.depth);
    const body = caller && bodyOf(caller);
    if (body?.includes(`${hop.name}(`) !== true)
      mistakes.push(`${where} is not called by ${caller?.name ?? 'any function'}`);
  }
}

for (const mistake of mistakes) console.log(`FAIL ${mistake}`);
console.log(`${checked} hops of ${sections.length} walks, ${mistakes.length} mistakes`);
process.exitCode = mistakes.length === 0 ? 0 : 1;

function hopsOf(section: string): Hop[] {
  return section.split('\n').flatMap((line) => {
    const [, indent = '', later, name = '', file = ''] = /^( *)- (later: )?`([#\w]+)` \(`([^`]+)`\)/.exec(line) ?? [];
    return name === '' ? [] : [{ depth: indent.length, isLater: later !== undefined, name, file }];
  });
}

/** Returns the text of a function or method, from its name to its closing brace. */
function bodyOf({ name, file }: Hop): string | undefined {
  if (!existsSync(file)) return undefined;
  const lines = readFileSync(file, 'utf8').split('\n');
  const start = lines.findIndex((line) => {
    const [, indent = '', rest = ''] = /^( *)(.*)$/.exec(line) ?? [];
    const words = rest.replace(/^(?:(?:export|static|async|override|protected|function\*?) )*\*?/, '');
    const isTop = rest.includes('function') || indent.length === 2;
    return isTop && (words.startsWith(`${name}(`) || words.startsWith(`${name}<`)) && !rest.endsWith(';');
  });
  if (start === -1) return undefined;
  const [indent = ''] = /^ */.exec(lines[start] ?? '') ?? [];
  const end = lines.findIndex((line, index) => index > start && line === `${indent}}`);
  return lines
    .slice(start, end + 1)
    .join('\n')
    .slice((lines[start] ?? '').indexOf(name) + name.length);
}
