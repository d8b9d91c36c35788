/**
 * Compares src/inject with Istio's injector on random pods of scripts/istio-recorder (Go). Exits
 * with code 1 if one differs. `--record FILE` writes equal answers for the unit tests. Other
 * flags: `[--count 20000] [--seed 1] [--setups DIR | --istiod] [--show 20] [--choose 1600]`
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { loadInjector, type Injector } from '../src/inject/injector.ts';
import { type IstiodSetup, settingsOfSetup } from '../src/inject/testdata/istiod-setup.ts';
import type { JsonObject } from '../src/inject/patch/json-value.ts';
import { mainThreadLimits } from '../src/server/worker/limits.ts';
import { compareAnswer } from './conformance/webhook-cases.ts';

interface IstioCase {
  readonly setup: string;
  readonly group: string;
  readonly path: string;
  readonly namespace: string;
  readonly pod: JsonObject;
  readonly outcome: 'patched' | 'skipped' | 'denied' | 'panic';
  readonly result?: JsonObject;
  readonly message?: string;
}

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    setups: { type: 'string' },
    istiod: { type: 'boolean', default: false },
    show: { type: 'string', default: '20' },
    record: { type: 'string' },
    choose: { type: 'string', default: '0' },
  },
});
const folder = mkdtempSync(path.join(tmpdir(), 'istio-differential-'));
const injectors = new Map<string, { injector: Injector; setup: IstiodSetup }>();
const recorded: string[] = [];
const counts = { compared: 0, panics: 0, explained: 0, differing: 0 };

function load(setup: IstiodSetup): void {
  const { name, config, values: yaml, mesh } = setup;
  const files = { config, values: yaml, mesh, settings: JSON.stringify(settingsOfSetup(setup)) };
  injectors.set(name, { injector: loadInjector(files, { semantics: 'Webhook', limits: mainThreadLimits }), setup });
}

/** Reports whether the answers are equal, and prints the difference. */
function compare({ setup, group, path: url, namespace, pod, outcome, result, message }: IstioCase): boolean {
  if (outcome === 'panic') {
    counts.panics += 1;
    return false;
  }
  const { injector, setup: used } = injectors.get(setup)!;
  const { mesh, namespaces = {} } = used;
  const features = { COMPLIANCE_POLICY: '', ENABLE_NATIVE_SIDECARS: '', PLATFORM: '' };
  const setting = { config: '', values: '', mesh, features, cluster: { namespaces: null, nodes: null } };
  const annotations = namespaces[namespace];
  const answer = { allowed: outcome !== 'denied', ...(message && { message }), ...(result && { podOut: result }) };
  const request = { pod, namespace, path: url, nodes: [], ...(annotations && { namespaceMetadata: { annotations } }) };
  const mismatch = compareAnswer(injector, request, { ...answer, once: true }, setting);
  counts.compared += 1;
  if (mismatch === undefined) return true;
  counts[mismatch.differences === undefined ? 'differing' : 'explained'] += 1;
  if (mismatch.differences === undefined && counts.differing <= Number(values.show))
    console.log(`${setup}, ${group}, ${url}: ${mismatch.summary}\n    ${namespace}: ${JSON.stringify(pod)}`);
  return false;
}

try {
  const binary = path.join(folder, 'recorder');
  const cwd = path.join(import.meta.dirname, 'istio-recorder');
  if (spawnSync('go', ['build', '-o', binary, '.'], { cwd, stdio: 'inherit' }).status !== 0)
    throw new Error('go build of scripts/istio-recorder failed');
  const setups = values.setups === undefined ? [] : ['-setups', path.resolve(values.setups)];
  if (values.istiod) setups.push('-istiod');
  const recorder = spawn(binary, ['-count', values.count, '-seed', values.seed, '-choose', values.choose, ...setups], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: recorder.stdout })) {
    const row = JSON.parse(line) as IstioCase | { readonly setup: IstiodSetup };
    if (typeof row.setup !== 'string') load(row.setup);
    else if (!compare(row as IstioCase)) continue;
    recorded.push(`${line}\n`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
if (values.record !== undefined) writeFileSync(values.record, gzipSync(recorded.join(''), { level: 9 }));
const { compared, panics, explained, differing } = counts;
console.log(
  `seed ${values.seed}: ${compared} answers compared in ${injectors.size} configurations, ${explained} deliberately different, ${panics} panics of Istio`,
);
console.log(`${compared - differing} passed, ${differing} failed`);
if (differing > 0 || compared === 0) process.exitCode = 1;
