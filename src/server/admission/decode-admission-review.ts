import { withoutManagedFields } from './managed-fields.ts';
import { nestsDeeperThan } from './nesting.ts';
import {
  type AdmissionOperation,
  type AdmissionRequest,
  type ReviewVersion,
  reviewVersions,
} from './admission-request.ts';

/**
 * A decoded review; or what is wrong with it. A review that can be answered (its version and uid are known) is refused in its own terms,
 * anything else is a bad HTTP request.
 */
export type DecodedReview =
  | { readonly version: ReviewVersion; readonly request: AdmissionRequest }
  | { readonly version: ReviewVersion; readonly uid: string; readonly problem: string }
  | { readonly problem: string };

type Members = Readonly<Record<string, unknown>>;

const operations: readonly string[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] satisfies AdmissionOperation[];

/** Reads an AdmissionReview of admission.k8s.io/v1 or v1beta1 from the bytes of a request; a pod's managedFields are left out where that is cheap. Throws nothing. */
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
  if (version === undefined) {
    return { problem: `apiVersion must be ${reviewVersions.join(' or ')}, not ${shown(review.apiVersion)}` };
  }
  const request = review.request;
  if (!isMembers(request)) return { problem: `request must be an object, not ${kindOf(request)}` };
  const uid = request.uid;
  if (typeof uid !== 'string' || uid === '')
    return { problem: `request.uid must be a non-empty string, not ${shown(uid)}` };
  const problem = requestProblem(request) ?? depthProblem(request, maxDepth);
  if (problem !== undefined) return { version, uid, problem };
  return {
    version,
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
      return JSON.parse(needed);
    } catch {
      // Not written as it seemed; what is wrong with it, if anything, the whole text tells.
    }
  }
  return JSON.parse(text);
}

/** The first member of a request that is not of its type; Go leaves out empty strings and false. */
function requestProblem(request: Members): string | undefined {
  for (const name of ['subResource', 'name', 'namespace'] as const) {
    const value = request[name];
    if (isPresent(value) && typeof value !== 'string') return `request.${name} must be a string, not ${kindOf(value)}`;
  }
  if (isPresent(request.dryRun) && typeof request.dryRun !== 'boolean') {
    return `request.dryRun must be a boolean, not ${kindOf(request.dryRun)}`;
  }
  if (typeof request.operation !== 'string' || !operations.includes(request.operation)) {
    return `request.operation must be one of ${operations.join(', ')}, not ${shown(request.operation)}`;
  }
  if (!isPresent(request.resource)) return undefined;
  if (!isMembers(request.resource)) return `request.resource must be an object, not ${kindOf(request.resource)}`;
  for (const name of ['group', 'resource'] as const) {
    const value = request.resource[name];
    if (isPresent(value) && typeof value !== 'string')
      return `request.resource.${name} must be a string, not ${kindOf(value)}`;
  }
  return undefined;
}

/** Objects are walked by recursion later on. Managed fields are not: they are dropped unread, and are often most of an object. */
function depthProblem(request: Members, maxDepth: number): string | undefined {
  for (const name of ['object', 'oldObject'] as const) {
    const object = request[name];
    if (!isMembers(object)) continue;
    for (const member in object) {
      const value = object[member];
      const deep =
        member === 'metadata' && isMembers(value)
          ? metadataNestsDeeperThan(maxDepth, value)
          : nestsDeeperThan(maxDepth, value);
      if (deep) return `request.${name}.${member} nests deeper than ${maxDepth} levels`;
    }
  }
  return undefined;
}

function metadataNestsDeeperThan(maxDepth: number, metadata: Members): boolean {
  for (const name in metadata) {
    if (name !== 'managedFields' && nestsDeeperThan(maxDepth - 1, metadata[name])) return true;
  }
  return false;
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

/** A JSON value's type in the words of JSON. */
function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** A value as it goes into a message: strings quoted and shortened, everything else by its type. */
function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 64)) : kindOf(value);
}

/** V8 quotes the text around the mistake, which can hold a Secret's value; only what and where is kept. */
function syntaxProblem(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  const position = /at position \d+/.exec(message)?.[0];
  if (message.startsWith('Unexpected end')) return 'it ends too early';
  return position === undefined ? 'unexpected text' : `unexpected text ${position}`;
}
