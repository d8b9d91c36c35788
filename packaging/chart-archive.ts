/** Packs the chart without `helm package`, which would give the files the time of the run. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { project, releaseTime } from './project.ts';
import { packTarGz } from './reproducible-tar.ts';

const chart = 'injector-operator';
const source = `charts/${chart}`;

/** Writes injector-operator-VERSION.tgz. */
export async function writeChartArchive(folder: string): Promise<string[]> {
  const isIgnored = readIgnored();
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => statSync(path.join(source, file)).isFile() && !isIgnored(file))
    .map((file) => [`${chart}/${file}`, { content: readFileSync(path.join(source, file)) }] as const);
  const name = `${chart}-${project.version}.tgz`;
  writeFileSync(path.join(folder, name), await packTarGz(new Map(files), releaseTime()));
  return [name];
}

/** Reads .helmignore. Supports three of helm's patterns: a name, `*.ending` and `folder/`. */
function readIgnored(): (file: string) => boolean {
  const patterns = readFileSync(`${source}/.helmignore`, 'utf8').split('\n').filter(Boolean);
  for (const pattern of patterns)
    if (!/^(?:\*\.\w+|[\w.-]+\/?)$/.test(pattern))
      throw new Error(`${source}/.helmignore: "${pattern}" is not supported; use names, *.ending and folder/`);
  return (file) => {
    const parts = file.split('/');
    return patterns.some((pattern) => {
      if (pattern.endsWith('/')) return parts.slice(0, -1).includes(pattern.slice(0, -1));
      return pattern.startsWith('*') ? file.endsWith(pattern.slice(1)) : parts.includes(pattern);
    });
  };
}
