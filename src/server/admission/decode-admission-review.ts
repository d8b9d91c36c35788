import {
  type AdmissionOperation,
  type AdmissionRequest,
  type ReviewVersion,
  reviewVersions,
} from './admission-decision.ts';

/** The problem with a review, and the version and uid for the answer if they are known. */
export interface MalformedReview {
  readonly problem: string;
  readonly version?: ReviewVersion;
  readonly uid?: string;
}

/** A decoded review, and the number of JSON values in its objects, without managedFields. */
export type DecodedReview =
  { readonly version: ReviewVersion; readonly request: AdmissionRequest; readonly values: number } | MalformedReview;

type Members = Readonly<Record<string, unknown>>;

const operations: readonly string[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] satisfies AdmissionOperation[];

/** Decodes an AdmissionReview. Skips managedFields that a text search can find. Never throws. */
export function decodeAdmissionReview(body: Buffer, maxDepth: number): DecodedReview {
  let review: unknown;
  try {
    review = parseReview(body.toString('utf8'));
  } catch (error) {
    return { problem: `the body is not JSON: ${syntaxProblem(error)}` };
  }
  if (!isMembers(review)) return { problem: `the body must be an AdmissionReview, not ${kindOf(review)}` };
  if (review.kind !== 'AdmissionReview') return { problem: `kind must be AdmissionReview, not ${shown(review.kind)}` };
  const version = reviewVersions.find((candidate) => candidate === review.apiVersion);
  if (version === undefined)
    return { problem: `apiVersion must be ${reviewVersions.join(' or ')}, not ${shown(review.apiVersion)}` };
  const request = review.request;
  if (!isMembers(request)) return { problem: `request must be an object, not ${kindOf(request)}` };
  const uid = request.uid;
  if (typeof uid !== 'string' || uid === '')
    return { problem: `request.uid must be a non-empty string, not ${shown(uid)}` };
  const values = requestProblem(request) ?? valuesOf(request, maxDepth);
  if (typeof values === 'string') return { version, uid, problem: values };
  return {
    version,
    values,
    request: {
      uid,
      resource: resourceName(request.resource),
      subResource: textOf(request.subResource),
      name: textOf(request.name),
      namespace: textOf(request.namespace),
      operation: request.operation as AdmissionOperation,
      dryRun: request.dryRun === true,
      object: request.object ?? null,
      oldObject: request.oldObject ?? null,
    },
  };
}

function parseReview(text: string): unknown {
  const needed = withoutManagedFields(text);
  if (needed !== text) {
    try {
      return parseJson(needed);
    } catch {
      // The text does not have the expected form; parse the whole text.
    }
  }
  return parseJson(text);
}

/** An escape in JSON: a surrogate pair, half of one, or another. */
const escape = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2})|[^])/g;

/** Parses JSON as Go does: half of a surrogate pair becomes U+FFFD. */
function parseJson(text: string): unknown {
  if (!text.includes('\\ud') && !text.includes('\\uD')) return JSON.parse(text);
  return JSON.parse(text.replace(escape, (all, half?: string) => (half === undefined ? all : '\\ufffd')));
}

/** Describes the first field with a wrong type. Fields may be missing: Go omits '' and false. */
function requestProblem(request: Members): string | undefined {
  const { operation, resource } = request;
  const problem =
    typeProblem(request, 'request', ['subResource', 'name', 'namespace'], 'string') ??
    typeProblem(request, 'request', ['dryRun'], 'boolean');
  if (problem !== undefined) return problem;
  if (typeof operation !== 'string' || !operations.includes(operation))
    return `request.operation must be one of ${operations.join(', ')}, not ${shown(operation)}`;
  if (!isPresent(resource)) return undefined;
  if (!isMembers(resource)) return `request.resource must be an object, not ${kindOf(resource)}`;
  return typeProblem(resource, 'request.resource', ['group', 'resource'], 'string');
}

function typeProblem(members: Members, path: string, names: readonly string[], type: string): string | undefined {
  const name = names.find((each) => isPresent(members[each]) && typeof members[each] !== type);
  return name && `${path}.${name} must be a ${type}, not ${kindOf(members[name])}`;
}

/**
 * Returns the number of values in the objects, or describes a member that is too deep for recursive
 * code. Ignores the unused managedFields.
 */
function valuesOf(request: Members, maxDepth: number): number | string {
  let values = 0;
  for (const name of ['object', 'oldObject'] as const) {
    const object = request[name];
    if (!isMembers(object)) continue;
    for (const member in object) {
      const value = object[member];
      values +=
        member === 'metadata' && isMembers(value) ? valuesInMetadata(maxDepth, value) : valuesWithin(maxDepth, value);
      if (values === Infinity) return `request.${name}.${member} nests deeper than ${maxDepth} levels`;
    }
  }
  return values;
}

function valuesInMetadata(maxDepth: number, metadata: Members): number {
  let values = 1;
  for (const name in metadata) if (name !== 'managedFields') values += valuesWithin(maxDepth - 1, metadata[name]);
  return values;
}

/**
 * Returns the number of JSON values in a value, itself included; Infinity if the value nests deeper
 * than `maxDepth`. The recursion stops there.
 */
export function valuesWithin(maxDepth: number, value: unknown): number {
  return typeof value === 'object' && value !== null ? valuesInContainer(maxDepth, value) : 1;
}

/** Runs for every pod; therefore checks the type before it recurses, and allocates no list. */
function valuesInContainer(maxDepth: number, container: object): number {
  if (maxDepth === 0) return Infinity;
  let values = 1;
  if (Array.isArray(container)) {
    for (const member of container as readonly unknown[]) {
      values += typeof member === 'object' && member !== null ? valuesInContainer(maxDepth - 1, member) : 1;
    }
    return values;
  }
  for (const name in container) {
    const member: unknown = container[name as keyof typeof container];
    values += typeof member === 'object' && member !== null ? valuesInContainer(maxDepth - 1, member) : 1;
  }
  return values;
}

function resourceName(resource: unknown): string | undefined {
  if (!isMembers(resource)) return undefined;
  const group = textOf(resource.group);
  return group === '' ? textOf(resource.resource) : `${textOf(resource.resource)}.${group}`;
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Names the JSON type of a value for a message. */
function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Formats a value for a message: a string quoted and shortened, any other value by its type. */
function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 64)) : kindOf(value);
}

/** Describes a syntax error. Omits V8's quote of the text, which may contain a Secret's value. */
function syntaxProblem(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  const position = /at position \d+/.exec(message)?.[0];
  if (message.startsWith('Unexpected end')) return 'it ends too early';
  return position === undefined ? 'unexpected text' : `unexpected text ${position}`;
}

/** The start of a pod from Go's encoder (k8s.io/api/admission/v1 and core/v1). */
const podStart = '"object":{"kind":"Pod","apiVersion":"v1","metadata":{';
/** The text after managedFields, the last field of ObjectMeta in k8s.io/apimachinery. */
const metadataEnd = '},"spec":{';
const managedFields = ',"managedFields":[';
const closingBracket = ']'.charCodeAt(0);

/**
 * Returns a review's JSON text without the pod's managedFields. No code reads them, and they are
 * often half of the text and of the parsing cost. The search marks contain unescaped quotes, so
 * they cannot occur inside a JSON string. In a review with another layout, the marks are missing or
 * the result is not JSON; then the caller parses the whole text.
 */
export function withoutManagedFields(text: string): string {
  const start = text.indexOf(podStart);
  if (start === -1) return text;
  const end = text.indexOf(metadataEnd, start + podStart.length);
  if (end === -1 || text.charCodeAt(end - 1) !== closingBracket) return text;
  const fields = text.indexOf(managedFields, start);
  return fields === -1 || fields > end ? text : text.slice(0, fields) + text.slice(end);
}
