import type { Frame } from './profile.ts';

/** Folders and files of the engine, each with the phase of its time. The first match wins. */
const phases: readonly (readonly [string, string])[] = [
  ['/src/inject/patch/', 'patch'],
  ['/src/inject/pod/carry-over', 'carry over'],
  ['/src/inject/pod/read-pod', 'reading the pod'],
  ['/src/inject/pod/pod-facts', 'decision'],
  ['/src/inject/decide', 'decision'],
  ['/src/inject/render/overlay', 'merging: typed reading after'],
  ['/src/inject/merge/', 'merging'],
  ['/src/inject/yaml/', 'YAML'],
  ['/src/inject/render/template-outputs', 'YAML'],
  ['/src/inject/finish/', 'finishing'],
  ['/src/inject/probes/', 'finishing'],
  ['/src/inject/mesh/', 'proxy configuration'],
  ['/src/inject/annotations/', 'annotations'],
  ['/src/template/', 'template'],
  ['/src/inject/', 'rest of the engine'],
];

/** Files that several phases share. Their time belongs to the phase of the caller. */
const shared = [
  '/src/inject/patch/json-value',
  '/src/inject/patch/json-equal',
  '/src/inject/kubernetes/',
  '/src/inject/template-data/',
  '/src/inject/pod/pod.ts',
  '/src/inject/pod/without',
  '/src/inject/pod/go-json',
  '/src/template/go-string',
];

/** Returns the phase to which the time of a frame belongs; undefined for shared files. */
export function phaseOf({ functionName, url }: Frame): string | undefined {
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (functionName === '(program)' || functionName === '(idle)') return 'outside JavaScript';
  if (shared.some((file) => url.includes(file))) return undefined;
  return phases.find(([file]) => url.includes(file))?.[1];
}
