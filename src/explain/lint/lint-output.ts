import { normalisePod } from '../../inject/kubernetes/typed-pod.ts';
import { objectAt } from '../../inject/objects/workload-kinds.ts';
import type { JsonObject } from '../../inject/patch/json-value.ts';
import { listOf } from '../../inject/kubernetes/admission-pod.ts';
import { hasContent, pathsOf, unknownPodFields } from '../../inject/rehearsal/rehearse.ts';
import type { RuleName } from './rules.ts';

/** A finding in what a template adds to pods. */
export interface OutputFinding {
  readonly rule: RuleName;
  readonly message: string;
  /** A text in the template that is probably near the cause. */
  readonly near?: string;
  /** The field of the output with the problem. */
  readonly field?: string;
}

/** The maximum number of fields that a message names. */
const mostFields = 10;

/**
 * Finds problems in the outputs of a template for several pods. Reports each problem once.
 * @param mustAdd whether an empty output is a problem
 */
export function outputFindings(parts: readonly JsonObject[], mustAdd: boolean): OutputFinding[] {
  const found = new Map<string, OutputFinding>();
  for (const part of parts) {
    for (const finding of [...fieldFindings(part), ...nodeFindings(part), ...containerFindings(part)])
      found.set(`${finding.rule} ${finding.message}`, finding);
  }
  if (mustAdd && !parts.some((part) => hasContent(normalisePod(part))))
    found.set('', { rule: 'no-output', message: 'adds nothing to any typical pod' });
  return [...found.values()];
}

function fieldFindings(part: JsonObject): OutputFinding[] {
  return [
    ...unknownPodFields(part, mostFields).map((path): OutputFinding => {
      return { rule: 'unknown-pod-field', message: `writes ${path}, which a pod does not have`, field: path };
    }),
    ...pathsOf(part, '<no value>', '').map((path): OutputFinding => {
      return { rule: 'missing-value', message: `prints <no value> into ${path}`, field: path };
    }),
  ];
}

function nodeFindings(part: JsonObject): OutputFinding[] {
  const spec = objectAt(part, ['spec']);
  const mounted = listOf(spec.volumes).filter(({ hostPath }) => hostPath !== undefined && hostPath !== null);
  return [
    ...mounted.map((volume): OutputFinding => {
      const { path } = objectAt(volume, ['hostPath']);
      return {
        rule: 'host-access',
        message: `volume ${nameOf(volume)} mounts the path ${String(path)} of the node`,
        near: 'hostPath',
      };
    }),
    ...['hostNetwork', 'hostPID', 'hostIPC']
      .filter((field) => spec[field] === true)
      .map((field): OutputFinding => ({ rule: 'host-access', message: `sets ${field}`, near: field })),
  ];
}

function containerFindings(part: JsonObject): OutputFinding[] {
  const spec = objectAt(part, ['spec']);
  return ['initContainers', 'containers'].flatMap((list) =>
    listOf(spec[list]).flatMap((container) => {
      const near = `name: ${nameOf(container)}`;
      return problemsOf(container).map(([rule, problem]): OutputFinding => {
        return { rule, message: `container ${nameOf(container)} ${problem}`, near };
      });
    }),
  );
}

function problemsOf(container: JsonObject): [rule: RuleName, problem: string][] {
  const { image } = container;
  const problems: [RuleName, string][] = [];
  const security = objectAt(container, ['securityContext']);
  const { add, drop } = objectAt(security, ['capabilities']);
  if (security.privileged === true) problems.push(['privileged-container', 'is privileged']);
  const ports = listOf(container.ports).filter(({ hostPort }) => typeof hostPort === 'number' && hostPort > 0);
  for (const { hostPort } of ports) problems.push(['host-access', `uses the port ${String(hostPort)} of the node`]);
  const added = namesIn(add).filter((name) => name !== 'NET_BIND_SERVICE');
  if (added.length > 0) problems.push(['unrestricted-capabilities', `adds ${added.join(', ')} to its capabilities`]);
  // Without an image, the template changes a container of the pod's author.
  if (typeof image !== 'string' || image === '') return problems;
  if (added.length === 0 && !namesIn(drop).includes('ALL'))
    problems.push(['unrestricted-capabilities', 'does not drop all capabilities']);
  if (!hasVersion(image)) problems.push(['image-without-version', `has the image ${image}, without a version`]);
  const { requests } = objectAt(container, ['resources']) as { requests?: JsonObject };
  const missing = ['cpu', 'memory'].filter((name) => (requests?.[name] ?? undefined) === undefined);
  if (missing.length > 0) problems.push(['missing-resources', `has no request for ${missing.join(' and ')}`]);
  return problems;
}

/** Istio's placeholder, which the webhook replaces by the image of the proxy. */
const placeholder = 'auto';

function hasVersion(image: string): boolean {
  const name = image.slice(image.lastIndexOf('/') + 1);
  return image === placeholder || name.includes('@') || (name.includes(':') && !name.endsWith(':latest'));
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function nameOf({ name }: JsonObject): string {
  return typeof name === 'string' ? name : '';
}
