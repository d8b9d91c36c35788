/** Runs the health checks of examples/gitops in Argo CD's and Flux's engines (e2e/tools/health). */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { paths } from '../e2e/harness/paths.ts';
import type { KubernetesObject } from '../src/api/kubernetes/kubernetes.ts';

type Flux = Record<'kind' | 'current' | 'inProgress' | 'failed', string>;
export type Kind = 'InjectorConfig' | 'RevisionTag';

/** The health checks of one kind for both tools. */
export interface HealthCheck {
  readonly lua: string;
  readonly flux: Flux;
}

export function healthCheck(kind: Kind): HealthCheck {
  const read = (file: string) => load(readFileSync(join(paths.examples, 'gitops', file), 'utf8'));
  const { data } = read('argocd-health.yaml') as { data: Record<string, string> };
  const { spec } = read('flux-health.yaml') as { spec: { healthCheckExprs: Flux[] } };
  const flux = spec.healthCheckExprs.find((each) => each.kind === kind);
  const lua = data[`resource.customizations.health.sidecar-injector.io_${kind}`];
  if (flux === undefined || lua === undefined) throw new Error(`examples/gitops has no health check of ${kind}`);
  return { lua, flux };
}

/** Returns mutants of the checks: in each, one status, reason or condition can no longer match. */
export function mutants({ lua, flux }: HealthCheck): HealthCheck[] {
  const without = (text: string) =>
    [...text.matchAll(/(?<=["'])\w+(?=["'])|\b\w+(?= = true\b)|\bobj\.metadata\.generation\b/g)].map(
      ({ index, 0: word }) =>
        `${text.slice(0, index)}${word.includes('.') ? 'status.observedGeneration' : 'Gone'}${text.slice(index + word.length)}`,
    );
  const parts = (['current', 'inProgress', 'failed'] as const).flatMap((part) =>
    without(flux[part]).map((text) => ({ lua, flux: { ...flux, [part]: text } })),
  );
  return [...without(lua).map((text) => ({ lua: text, flux })), ...parts];
}

/** Returns `Argo's health, Flux's status` for each stored object, for each of the checks. */
export function judge(program: string, checks: readonly HealthCheck[], objects: readonly KubernetesObject[]) {
  const input = JSON.stringify({ checks, objects });
  const { status, stdout, stderr } = spawnSync(program, { input, encoding: 'utf8', maxBuffer: 64 << 20 });
  if (status !== 0) throw new Error(`the health program failed: ${stderr}`);
  const verdicts = JSON.parse(stdout) as { argo: string; flux: string }[][];
  return verdicts.map((each) => each.map(({ argo, flux }) => `${argo}, ${flux}`));
}
