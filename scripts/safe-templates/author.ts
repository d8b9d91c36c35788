import type { JsonObject } from '../../src/inject/patch/json-value.ts';
import { hostileData } from '../hostile/hostile-texts.ts';
import type { Random } from '../template-recorder/random.ts';
import type { AuthorTexts } from './author-texts.ts';

/** What an author writes into a pod. */
export interface Author {
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  /** A list of the spec, and an element that comes first in this list. */
  readonly element?: readonly [list: string, element: JsonObject];
}

const { engineAnnotations, engineTexts } = hostileData;

/** The pod without the author's annotations and labels. */
export const barePod: JsonObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web-0',
    namespace: 'shop',
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: '1', controller: true }],
  },
  spec: {
    serviceAccountName: 'web',
    securityContext: { runAsUser: 1000, fsGroup: 2000, runAsNonRoot: true },
    terminationGracePeriodSeconds: 5,
    initContainers: [
      { name: 'setup', image: 'setup:1' },
      { name: 'check', image: 'check:1' },
    ],
    containers: [
      {
        name: 'web',
        image: 'web:1',
        args: ['serve'],
        ports: [{ containerPort: 9090, name: 'main' }],
        securityContext: { allowPrivilegeEscalation: false },
        livenessProbe: { httpGet: { path: '/live', port: 9090 } },
      },
    ],
    volumes: [{ name: 'data', emptyDir: {} }],
  },
};

/** The names of environment variables that the engine may add. */
export const engineWords = ['ISTIO_KUBE_APP_PROBERS', 'ISTIO_PROMETHEUS_ANNOTATIONS'] as const;

export function podOf({ annotations, labels, element }: Author): JsonObject {
  const [metadata, spec] = [barePod.metadata as JsonObject, barePod.spec as Record<string, JsonObject[]>];
  const own = element && { [element[0]]: [element[1], ...spec[element[0]]!] };
  return { ...barePod, metadata: { ...metadata, annotations, labels }, spec: { ...spec, ...own } };
}

const containerParts = [{ image: 'evil:1' }, { securityContext: { privileged: true } }, { command: ['evil'] }, {}];
/** The lists, and what an author adds to their elements. */
const elementParts: readonly (readonly [list: string, parts: readonly JsonObject[]])[] = [
  ['containers', containerParts],
  ['initContainers', containerParts],
  ['volumes', [{ secret: { items: [{ key: 'k', path: 'evil' }] } }, { hostPath: { type: 'File' } }, { emptyDir: {} }]],
];

/** Adds an element with the name of an element of the template, perhaps as if injected earlier. */
function withElement(random: Random, template: string, author: Author): Author {
  const names = [...template.matchAll(/- \{?name: "?([a-z-]+)/g)].map(([, name]) => name!);
  // If a template changes own elements, a pod of an earlier injection has no reference.
  if (names.some((one) => ['web', 'setup', 'check', 'data'].includes(one))) return author;
  const name = random.pick(names.concat('own'));
  const [list, parts] = random.pick(elementParts);
  const status = { 'sidecar.istio.io/status': JSON.stringify({ containers: [name], initContainers: [name] }) };
  const annotations = { ...author.annotations, ...(random.chance(0.5) ? status : {}) };
  return { ...author, annotations, element: [list, { name, ...random.pick(parts) }] };
}

/** Returns texts for the names that a template reads. Each may be absent, but not all. */
export function randomAuthor(random: Random, template: string, texts: AuthorTexts): Author {
  const constants = [...template.matchAll(/"([^"\\{}]{1,40})"/g)]
    .map(([, constant]) => constant!)
    .filter((constant) => !constant.startsWith('example.com'));
  const names = ['example.com/a', 'example.com/b', 'example.com/c'];
  const read = names.filter((name) => template.includes(name));
  // A template that iterates over all annotations reads every name.
  const used = read.length > 0 ? read : names;
  const annotations: Record<string, string> = {};
  const labels: Record<string, string> = {};
  const all = /\.Annotations(?! ["`])/.test(template);
  for (const name of all && random.chance(0.5) ? names : used) {
    if (random.chance(0.85)) annotations[name] = texts.next(constants);
  }
  for (const name of ['team', 'app']) {
    if (template.includes('Labels') && random.chance(0.75)) labels[name] = texts.next(constants);
  }
  if (all && random.chance(0.3)) annotations[texts.next(constants)] = texts.next(constants);
  if (/\.Labels(?!\.|")/.test(template) && random.chance(0.2)) labels[texts.next(constants)] = texts.next(constants);
  if (random.chance(template.includes('istio-proxy') ? 0.3 : 0.02))
    annotations[random.pick(engineAnnotations)] = random.pick(engineTexts);
  if (Object.keys(annotations).length + Object.keys(labels).length === 0) annotations[used[0]!] = texts.next(constants);
  return random.chance(0.1) ? withElement(random, template, { annotations, labels }) : { annotations, labels };
}
