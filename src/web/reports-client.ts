import type { DashboardSnapshot, LiveAnswer } from '../api/dashboard-reports.ts';

/** The parts of `sessionStorage` that keep the session of a tab. */
interface SessionStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

/** The parts of `fetch` that the client uses. */
type Fetch = (
  path: string,
  init: { method: 'GET' | 'POST'; headers: Record<string, string>; signal?: AbortSignal },
) => Promise<{ readonly ok: boolean; readonly status: number; json(): Promise<unknown> }>;

/** Sends requests with the session of this tab. */
export interface ReportsClient {
  /** When the data was read, if it is a snapshot (RFC 3339). */
  readonly snapshotAt?: string;
  /** Requests JSON. @throws RequestFailure with the reason of the server */
  readonly get: <Body>(path: string, signal?: AbortSignal) => Promise<Body>;
  /** Sends a POST request; otherwise like `get`. */
  readonly post: <Body>(path: string) => Promise<Body>;
}

/** An answer that is not a success. */
export class RequestFailure extends Error {
  override readonly name = 'RequestFailure';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const key = 'session';

/**
 * Exchanges the token of the fragment for a session, or continues the session of this tab.
 * @throws RequestFailure if the token is wrong or was used
 */
export async function openSession(fetch: Fetch, storage: SessionStorage, fragment: string): Promise<ReportsClient> {
  const token = /^#?token=([\w-]+)$/.exec(fragment)?.[1];
  if (token !== undefined) {
    const { session } = await request<{ session: string }>(fetch, 'GET', '/session', token);
    storage.setItem(key, session);
  }
  const session = (): string => storage.getItem(key) ?? 'none';
  return {
    get: (path, signal) => request(fetch, 'GET', path, session(), signal),
    post: (path) => request(fetch, 'POST', path, session()),
  };
}

/** Answers from a snapshot. A report never changes, and nothing can be explained. */
export function snapshotClient({ at, answers }: DashboardSnapshot): ReportsClient {
  return {
    snapshotAt: at,
    get: <Body>(path: string) => {
      const name = /^\/reports\/(\w+)\?after=0$/.exec(path)?.[1] ?? '';
      if (Object.hasOwn(answers, name)) return Promise.resolve(answers[name] as Body);
      if (path.startsWith('/reports/')) return new Promise<Body>(() => undefined);
      return Promise.reject(new RequestFailure(404, 'a snapshot has no explanations; use `injector check`'));
    },
    post: () => Promise.reject(new RequestFailure(404, 'a snapshot carries out nothing')),
  };
}

async function request<Body>(
  fetch: Fetch,
  method: 'GET' | 'POST',
  path: string,
  bearer: string,
  signal?: AbortSignal,
): Promise<Body> {
  const headers = { Authorization: `Bearer ${bearer}` };
  const response = await fetch(path, { method, headers, ...(signal && { signal }) });
  const body = (await response.json()) as Body & { failure?: string };
  if (!response.ok) throw new RequestFailure(response.status, body.failure ?? `status ${response.status}`);
  return body;
}

/** A report, and whether it is old. */
export interface Followed<Report> {
  readonly report?: Report | undefined;
  readonly failure?: string | undefined;
  /** When the report was computed, if it is old. */
  readonly at?: string | undefined;
}

/** The pause before a request is repeated after a failure, in milliseconds. */
const retryPause = 2_000;

/**
 * Requests a report again and again: the server answers when it has changed. Ends when the signal
 * aborts, or when the server refuses the session.
 * @param told gets each version, and why there is none
 */
export async function follow<Report>(
  client: ReportsClient,
  path: string,
  told: (followed: Followed<Report>) => void,
  signal: AbortSignal,
  pause = retryPause,
): Promise<void> {
  let version = 0;
  let last: Followed<Report> = {};
  const isStopped = (): boolean => signal.aborted;
  while (!isStopped()) {
    try {
      const answer = await client.get<LiveAnswer<Report>>(`${path}?after=${version}`, signal);
      if (answer.version === version && last.failure === undefined) continue;
      version = answer.version;
      last = { report: answer.report, failure: answer.failure, at: answer.at };
      told(last);
    } catch (error) {
      if (isStopped()) return;
      const isRefused = error instanceof RequestFailure;
      const reason = isRefused ? error.message : '`injector dashboard` does not answer; is it still running?';
      last = { ...last, failure: reason };
      told(last);
      if (isRefused) return;
      version = 0;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
