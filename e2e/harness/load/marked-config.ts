import type { ApiClient } from '../../../src/kube/api-client.ts';
import { applyUntilReady, injectorConfig, type InjectorConfigObject } from '../injector-configs.ts';
import type { PodDefect } from '../lost-admissions.ts';
import { isInjected, type Pod } from '../pod.ts';

const annotation = 'e2e.sidecar-injector.io/mark';

type MarkedSpec = Pick<InjectorConfigObject['spec'], 'webhook' | 'certificate'>;

/**
 * Builds an InjectorConfig whose template, values, mesh and annotations leave the same mark in a
 * pod, so that a pod that mixes two configurations has two marks.
 *
 * @param mark lower-case letters and digits
 * @param outcome what happens to injected pods (kwok-stages.yaml); by default, they become ready
 */
export function markedConfig(
  name: string,
  mark: string,
  spec: MarkedSpec = {},
  outcome?: 'unready' | 'crash',
): InjectorConfigObject {
  const template = `metadata:
  annotations:
    ${annotation}-mesh: "{{ .MeshConfig.DefaultConfig.DiscoveryAddress }}"${outcome === undefined ? '' : `\n    e2e.sidecar-injector.io/outcome: ${outcome}`}
spec:
  containers:
  - name: marked
    image: example.com/sidecar:{{ .Values.mark }}
    env:
    - name: TEMPLATE
      value: "${mark}"
`;
  return injectorConfig(name, {
    injection: {
      templates: { sidecar: template },
      values: { mark },
      meshConfig: { defaultConfig: { discoveryAddress: `${mark}.example:15012` } },
      injectedAnnotations: { [annotation]: mark },
    },
    ...spec,
  });
}

/** Applies {@link markedConfig} for each name and mark; all are Ready when this resolves. */
export async function applyMarked(client: ApiClient, marks: Record<string, string>, spec?: MarkedSpec): Promise<void> {
  for (const [name, mark] of Object.entries(marks)) await applyUntilReady(client, markedConfig(name, mark, spec));
}

/** Returns a pod's distinct marks, and the configuration in its annotation (`NAME.HASH`). */
export function marksOf(pod: Pod): { marks: string[]; configuration: string | undefined } {
  const sidecar = pod.spec.containers.find(({ name }) => name === 'marked');
  const environment = (sidecar?.['env'] ?? []) as { name: string; value?: string }[];
  const { annotations = {} } = pod.metadata;
  const found = [
    sidecar?.image.split(':')[1],
    environment.find(({ name }) => name === 'TEMPLATE')?.value,
    annotations[annotation],
    annotations[`${annotation}-mesh`]?.split('.')[0],
  ];
  return {
    marks: [...new Set(found.map((mark) => mark ?? 'none'))],
    configuration: annotations['sidecar-injector.io/config'],
  };
}

/** Returns the InjectorConfig that a pod's annotation names; `none` if it has no annotation. */
export function makerOf(pod: Pod): string {
  return marksOf(pod).configuration?.split('.')[0] ?? 'none';
}

/**
 * Like {@link markDefect}, but also records each configuration's mark in `known`, and reports a pod
 * as mixed if an earlier pod of the same configuration had another mark.
 */
export function recordedDefect(pod: Pod, known: Map<string, string>, isAllowed?: (mark: string) => boolean) {
  const defect = markDefect(pod, isAllowed);
  if (defect !== undefined) return defect;
  const { marks, configuration = 'none' } = marksOf(pod);
  const [mark = 'none'] = marks;
  const before = known.get(configuration) ?? mark;
  known.set(configuration, mark);
  const what = `configuration ${configuration} had mark ${before} before, and now has mark ${mark}`;
  return before === mark ? undefined : ({ kind: 'mixed', what } satisfies PodDefect);
}

/** Returns the defect of a pod that should carry one allowed mark; undefined if it is sound. */
export function markDefect(pod: Pod, isAllowed: (mark: string) => boolean = () => true): PodDefect | undefined {
  if (!isInjected(pod)) return { kind: 'plain', what: 'stored without a sidecar' };
  const { marks } = marksOf(pod);
  const [mark = 'none'] = marks;
  if (marks.length > 1 || !isAllowed(mark)) return { kind: 'mixed', what: `the marks are ${marks.join(' and ')}` };
  return undefined;
}
