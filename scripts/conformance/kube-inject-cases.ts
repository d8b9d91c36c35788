import { parseAllDocuments } from 'yaml';
import { kubeInject } from '../../src/inject/kube-inject.ts';
import { normalisePod } from '../../src/inject/kubernetes/typed-pod.ts';
import { isJsonObject, type JsonObject } from '../../src/inject/patch/json-value.ts';
import { expectEqual, type ConformanceCase, type Mismatch } from './conformance-case.ts';
import type { Golden, Setting } from './golden.ts';

interface GoldenCase extends Setting {
  readonly kubeInject?: { readonly error: string | null; readonly warnings: readonly string[] };
}

/** Returns the cases of Istio's tests, recorded with `istioctl kube-inject`. */
export function* kubeInjectCases(golden: Golden, names: readonly string[]): Generator<ConformanceCase> {
  for (const name of names) {
    const setting = golden.json(`${name}/case.json`) as GoldenCase;
    const { kubeInject: expected } = setting;
    if (expected === undefined) continue;
    yield {
      id: `${name}/kube-inject`,
      group: 'kube-inject',
      run: () => compareFile(golden, name, setting, expected.error),
    };
  }
}

function compareFile(golden: Golden, name: string, setting: Setting, error: string | null): Mismatch | undefined {
  const injector = golden.injector(setting, '', 'KubeInject');
  const result = kubeInject(injector, golden.text(`${name}/input.yaml`), { nodes: setting.cluster.nodes ?? [] });
  if (result.outcome === 'failed') return expectEqual(result.message.split('\n')[0], error?.split('\n')[0]);
  if (error !== null) return { summary: `succeeded, expected ${error}` };
  return expectEqual(readObjects(result.text), readObjects(golden.text(`${name}/want.yaml`)));
}

/** Returns the objects of a file. Omits zero values, which only Istio writes. */
export function readObjects(text: string): unknown[] {
  const objects: unknown[] = [];
  for (const document of parseAllDocuments(text, { version: '1.1' })) {
    const object: unknown = document.toJS();
    if (object !== null) objects.push(plain(object));
  }
  return objects;
}

const podMembers: ReadonlySet<string> = new Set(['template', 'jobTemplate']);

function plain(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item: unknown): unknown => plain(item));
  if (!isJsonObject(value)) return value;
  if (value.kind === 'Pod') return { ...normalisePod(value), kind: 'Pod', apiVersion: value.apiVersion };
  if (name === 'template') return withoutZeros(normalisePod(value));
  const members = Object.entries(value).map(([key, member]): [string, unknown] => [key, plain(member, key)]);
  return withoutZeros(Object.fromEntries(members));
}

function withoutZeros(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([name, member]) => podMembers.has(name) || !isZero(name, member)),
  );
}

/** Reports whether a field has a zero value, or is the status of a new object. */
function isZero(name: string, member: unknown): boolean {
  if (name === 'status' || member === null || member === false || member === 0 || member === '') return true;
  return isJsonObject(member) && Object.keys(member).length === 0;
}
