import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadAll } from 'js-yaml';
import type { KubernetesObject } from '../../src/api/kubernetes.ts';
import { paths } from './paths.ts';

const run = promisify(execFile);

export interface ChartRelease {
  name: string;
  namespace: string;
  values: Record<string, unknown>;
}

/**
 * Renders our chart, CRDs included, with real helm; no cluster is asked.
 *
 * @param directory where the values file is written
 * @throws Error with what helm said
 */
export async function renderChart(release: ChartRelease, directory: string): Promise<KubernetesObject[]> {
  const values = join(directory, `${release.name}-${release.namespace}-values.json`);
  writeFileSync(values, JSON.stringify(release.values));
  const flags = ['--namespace', release.namespace, '--values', values, '--include-crds', '--kube-version', '1.36.3'];
  const { stdout } = await run(paths.helm, ['template', release.name, paths.chart, ...flags], { maxBuffer: 64 << 20 });
  return loadAll(stdout).filter(
    (document): document is KubernetesObject => document !== null && document !== undefined,
  );
}
