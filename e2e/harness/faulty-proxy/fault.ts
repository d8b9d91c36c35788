/** Criteria for requests; an omitted criterion matches every request. */
export interface RequestClass {
  /** A substring of the User-Agent, such as a replica's name. */
  client?: string;
  /** RBAC verbs: `get`, `list`, `watch`, `create`, `update`, `patch` or `delete`. */
  verbs?: readonly string[];
  versions?: readonly string[];
  resources?: readonly string[];
  /** The subresources, for example `status`; `''` means the object itself. */
  subresources?: readonly string[];
  namespace?: string;
  name?: string;
}

export type FaultAction =
  /** The proxy answers with an error instead of the API server: 403, 429, 500 … */
  | { kind: 'answer'; status: number; retryAfterSeconds?: number }
  | { kind: 'delay'; milliseconds: number }
  /** Requests and open watches get nothing more, but stay open, as on a half-open connection. */
  | { kind: 'hang' }
  /** The proxy resets the connection, and the connections of open watches. */
  | { kind: 'cut' };

export interface Fault {
  match: RequestClass;
  action: FaultAction;
  /** The fraction of matching requests that the fault affects; default 1. */
  share?: number;
}

const verbs: Record<string, string> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** Parses method and path as the API server does; paths outside /api and /apis have no resource. */
export function describeRequest(method: string, url: string, userAgent: string) {
  const { pathname, searchParams } = new URL(url, 'https://api');
  const parts = pathname.split('/').filter((part) => part !== '');
  const isCore = parts[0] === 'api';
  const rest = isCore ? parts.slice(2) : parts[0] === 'apis' ? parts.slice(3) : [];
  // `namespaces/x` is a Namespace unless more segments follow.
  const isInNamespace = rest[0] === 'namespaces' && rest.length > 2;
  const [resource = '', name = '', subresource = ''] = isInNamespace ? rest.slice(2) : rest;
  const isWatch = ['true', '1'].includes(searchParams.get('watch') ?? '');
  const read = isWatch ? 'watch' : name === '' ? 'list' : 'get';
  return {
    userAgent,
    verb: verbs[method] ?? read,
    apiGroup: isCore ? '' : (parts[1] ?? ''),
    version: parts[isCore ? 1 : 2] ?? '',
    resource,
    subresource,
    namespace: isInNamespace ? (rest[1] ?? '') : '',
    name,
  };
}

export type ProxiedRequest = ReturnType<typeof describeRequest>;

export function isOfClass(request: ProxiedRequest, match: RequestClass): boolean {
  const has = (wanted: readonly string[] | undefined, value: string) => wanted?.includes(value) !== false;
  return (
    request.userAgent.includes(match.client ?? '') &&
    has(match.verbs, request.verb) &&
    has(match.versions, request.version) &&
    has(match.resources, request.resource) &&
    has(match.subresources, request.subresource) &&
    (match.namespace ?? request.namespace) === request.namespace &&
    (match.name ?? request.name) === request.name
  );
}
