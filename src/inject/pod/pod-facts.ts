import type { DecisionFacts } from '../decide.ts';
import { InjectionFailure } from '../injection-failure.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';

/**
 * Parses and checks the parts of a pod that the decision reads: a pod from a file may contain
 * anything. An empty namespace defaults to the namespace of the request.
 * @throws InjectionFailure if a field has the wrong type
 */
export function readPodFacts(pod: unknown, namespace: string): DecisionFacts {
  if (!isJsonObject(pod)) throw invalid('', 'an object', pod);
  const metadata = optionalObject(pod, 'metadata', 'metadata');
  const spec = optionalObject(pod, 'spec', 'spec');
  const hostNetwork = member(spec, 'hostNetwork') ?? false;
  if (typeof hostNetwork !== 'boolean') throw invalid('spec.hostNetwork', 'a boolean', hostNetwork);
  const os = member(optionalObject(spec, 'os', 'spec.os'), 'name');
  const own = member(metadata, 'namespace') ?? '';
  if (typeof own !== 'string') throw invalid('metadata.namespace', 'a string', own);
  return {
    namespace: own === '' ? namespace : own,
    hostNetwork,
    ...(os === 'windows' && { windows: true }),
    labels: stringMap(metadata, 'labels'),
    annotations: stringMap(metadata, 'annotations'),
  };
}

function member(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined;
}

function optionalObject(parent: JsonObject, name: string, path: string): JsonObject {
  const value = member(parent, name) ?? {};
  if (!isJsonObject(value)) throw invalid(path, 'an object', value);
  return value;
}

/** Reads a map of strings as Go does: null is the empty string. */
function stringMap(metadata: JsonObject, name: string): Readonly<Record<string, string>> {
  const value = optionalObject(metadata, name, `metadata.${name}`);
  let nulls = false;
  for (const key of Object.keys(value)) {
    if (value[key] === null) nulls = true;
    else if (typeof value[key] !== 'string')
      throw invalid(`metadata.${name}[${JSON.stringify(key)}]`, 'a string', value[key]);
  }
  const entries = nulls ? Object.fromEntries(Object.entries(value).map(([key, text]) => [key, text ?? ''])) : value;
  return entries as Record<string, string>;
}

function invalid(path: string, expected: string, value: unknown): InjectionFailure {
  const found = value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value;
  const subject = path === '' ? 'the pod' : `the pod's ${path}`;
  return new InjectionFailure('InvalidPod', `${subject} must be ${expected}, not ${found}`);
}
