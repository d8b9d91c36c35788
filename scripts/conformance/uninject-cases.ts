import { load } from 'js-yaml';
import { uninjectText } from '../../src/cli/commands/uninject.ts';
import { podChanges } from '../../src/explain/pod-changes.ts';
import { type LostField, uninjectPod } from '../../src/explain/uninject.ts';
import { inject } from '../../src/inject/inject.ts';
import type { InjectionRequest, ProxyConfigResource } from '../../src/inject/injection-request.ts';
import type { Injector } from '../../src/inject/injector.ts';
import { normalisePod } from '../../src/inject/kubernetes/typed-pod.ts';
import { applyJsonPatch } from '../../src/inject/patch/testdata/apply-json-patch.ts';
import type { JsonPatchOperation } from '../../src/inject/patch/json-patch.ts';
import { jsonEqual } from '../../src/inject/patch/json-equal.ts';
import type { JsonObject } from '../../src/inject/patch/json-value.ts';
import { objectAt } from '../../src/inject/objects/workload-kinds.ts';
import { firstDifference } from './conformance-case.ts';
import { type Golden, type Setting } from './golden.ts';
import { readObjects } from './kube-inject-cases.ts';
import { randomSetting, type RandomCase, type RandomSetup } from './random-cases.ts';
import { requestFor } from './webhook-cases.ts';

/** A pod before and after an injection that was recorded. */
interface InjectedRow {
  readonly id: string;
  readonly injector: Injector;
  readonly request: Omit<InjectionRequest, 'pod'>;
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/** The least share of Istio's own cases that must be equal, or named. */
const leastShare = 0.99;

/**
 * Removes the injection from every recorded pod, and compares with the pod before the injection.
 * A row passes if the pods are equal, or if the result names each field that differs. It counts as
 * indistinguishable if an injection of the result gives the recorded pod again: then two originals
 * have the same injection, and nothing in the pod tells which of them it was.
 */
export function uninjectRows(golden: Golden, names: readonly string[]): { lines: string[]; problems: string[] } {
  const lines: string[] = [];
  const problems: string[] = [];
  for (const [set, rows] of [
    ['golden', [...webhookRows(golden, names)]],
    ['cross', [...crossRows(golden)]],
    ['random', [...randomRows(golden)]],
  ] as const) {
    const counts = { equal: 0, indistinguishable: 0, named: 0, plain: 0 };
    for (const row of rows) {
      const judged = judge(row, problems);
      if (judged !== undefined) counts[judged] += 1;
      if (isEqual(original(row, false), uninjectPod(row.after).pod)) counts.plain += 1;
    }
    const { equal, indistinguishable, named, plain } = counts;
    lines.push(
      `uninject ${set}: ${rows.length} pods: ${equal} equal, ${indistinguishable} indistinguishable, ${named} with other named fields; ${plain} equal without a configuration`,
    );
    if (set === 'golden' && equal + indistinguishable + named < rows.length * leastShare)
      problems.push(`uninject ${set}: fewer than ${leastShare * 100} % of the rows are equal or named`);
  }
  const files = names.filter((name) => golden.exists(`${name}/want.yaml`));
  const equal = files.filter((name) => isFileEqual(golden, name)).length;
  lines.push(`uninject files: ${files.length} files of kube-inject: ${equal} equal`);
  return { lines, problems };
}

function judge(
  { id, injector, request, before, after }: InjectedRow,
  problems: string[],
): 'equal' | 'indistinguishable' | 'named' | undefined {
  const expected = original({ id, injector, request, before, after }, true);
  const { pod, lost, overwritten } = uninjectPod(after, { injector, request });
  if (isEqual(expected, pod)) return 'equal';
  const paths = podChanges(comparable(expected), comparable(pod)).map(({ path }) => path);
  const unnamed = paths.filter((path) => !isNamed(path, lost, overwritten));
  const isOrder = paths.length === 0 && !isNamed('spec.volumes', lost, overwritten);
  if (unnamed.length > 0 || isOrder)
    problems.push(
      `uninject ${id}: not named: ${unnamed.join(', ') || firstDifference(comparable(pod), comparable(expected), '')}`,
    );
  const again = inject(injector, { ...request, pod });
  const isSame = again.outcome === 'injected' && podChanges(again.pod, after).length === 0;
  return unnamed.length > 0 || isOrder ? undefined : isSame ? 'indistinguishable' : 'named';
}

/** A field covers what is below it, `*` what begins so. A native proxy may have been ordinary. */
function isNamed(path: string, lost: readonly LostField[], overwritten: readonly string[]): boolean {
  const removed = overwritten.flatMap((field) => [field, field.replace('.initContainers[istio', '.containers[istio')]);
  const fields = [...lost.map(({ field }) => field), ...removed];
  return fields.some((field) => path.startsWith(field.replace(/\*$/, '')) || field.startsWith(path));
}

/** Returns the pod before; if an earlier injection had marked it, without this injection too. */
function original({ injector, request, before, after }: InjectedRow, withConfiguration: boolean): JsonObject {
  const { status } = injector.family.keys;
  const annotations = objectAt(before, ['metadata', 'annotations']);
  if (annotations[status] === undefined) return before;
  const marked = { ...annotations, [status]: objectAt(after, ['metadata', 'annotations'])[status] };
  const pod = { ...before, metadata: { ...objectAt(before, ['metadata']), annotations: marked } };
  return uninjectPod(pod, withConfiguration ? { injector, request } : undefined).pod;
}

function isEqual(one: JsonObject, other: JsonObject): boolean {
  return jsonEqual(comparable(one), comparable(other));
}

/** Returns a pod as Go encodes it, without empty maps and lists. */
function comparable(pod: JsonObject): JsonObject {
  const { metadata, spec } = normalisePod({ metadata: pod.metadata, spec: pod.spec });
  return { metadata: withoutEmpty(metadata as JsonObject), spec: withoutEmpty(spec as JsonObject) };
}

function withoutEmpty(object: JsonObject): JsonObject {
  const isEmpty = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return Object.fromEntries(
    Object.entries(object).filter(([name, value]) => !isEmpty(value) || name === 'securityContext'),
  );
}

function* webhookRows(golden: Golden, names: readonly string[]): Generator<InjectedRow> {
  type Run = {
    readonly injected: boolean;
    readonly path: string;
    readonly requestNamespace: string;
    readonly revision: string;
  };
  for (const name of names) {
    const setting = golden.json(`${name}/case.json`) as Setting & { readonly webhook?: readonly Run[] | null };
    for (const [part, run] of (setting.webhook ?? []).entries()) {
      if (!run.injected) continue;
      const id = `${name}/webhook/part-${part}`;
      const given = golden.json(`${id}/pod-in.json`) as JsonObject;
      const { pod: asked, ...request } = requestFor(setting, given, run.requestNamespace, run.path, undefined);
      const after = golden.json(`${id}/pod-out.json`) as JsonObject;
      yield { id, injector: golden.injector(setting, run.revision, 'Webhook'), request, before: asked, after };
    }
  }
}

function* crossRows(golden: Golden): Generator<InjectedRow> {
  type Setup = Setting & {
    readonly name: string;
    readonly path: string;
    readonly webhookRevision: string;
    readonly proxyConfigCRs?: string;
  };
  type Input = { readonly id: string; readonly pod: JsonObject; readonly namespace: string };
  type Result = {
    readonly setup: string;
    readonly input: string;
    readonly patch?: readonly JsonPatchOperation[];
    readonly podOut?: JsonObject;
  };
  const setups = new Map((golden.json('_cross/setups.json') as Setup[]).map((setup) => [setup.name, setup]));
  const inputs = new Map((golden.lines('_cross/inputs.jsonl.gz') as Input[]).map((input) => [input.id, input]));
  for (const { setup: name, input: id, patch, podOut } of golden.lines('_cross/results.jsonl.gz') as Result[]) {
    const [setup, input] = [setups.get(name), inputs.get(id)];
    if (setup === undefined || input === undefined || patch === undefined) continue;
    const resources =
      setup.proxyConfigCRs === undefined ? undefined : (load(setup.proxyConfigCRs) as ProxyConfigResource[]);
    const { pod: before, ...request } = requestFor(setup, input.pod, input.namespace, setup.path, resources);
    const after = podOut ?? (applyJsonPatch(input.pod, patch) as JsonObject);
    yield {
      id: `${name}/${id}`,
      injector: golden.injector(setup, setup.webhookRevision, 'Webhook'),
      request,
      before,
      after,
    };
  }
}

function* randomRows(golden: Golden): Generator<InjectedRow> {
  const setups = new Map((golden.json('_random/setups.json') as RandomSetup[]).map((setup) => [setup.name, setup]));
  for (const { id, setup: name, path, steps } of golden.lines('_random/cases.jsonl.gz') as RandomCase[]) {
    const setup = setups.get(name);
    if (setup === undefined) continue;
    const injector = golden.injector(randomSetting(setup), setup.revision, 'Webhook');
    for (const [index, { review, pod: after }] of steps.entries()) {
      const { object: before, namespace } = review.request;
      if (after !== undefined)
        yield { id: `_random/${id}/${index + 1}`, injector, request: { namespace, path, nodes: [] }, before, after };
    }
  }
}

/** Removes the injection from a file of Istio's command, and compares its objects. */
function isFileEqual(golden: Golden, name: string): boolean {
  const setting = golden.json(`${name}/case.json`) as Setting;
  const injector = golden.injector(setting, '', 'KubeInject');
  const context = { namespace: '', nodes: setting.cluster.nodes ?? [] };
  const result = uninjectText(golden.text(`${name}/want.yaml`), injector, context);
  if (result.outcome === 'failed') return false;
  return jsonEqual(readObjects(result.text), readObjects(golden.text(`${name}/input.yaml`)));
}
