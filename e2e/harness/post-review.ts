import { request, type Agent } from 'node:https';
import { text as readText } from 'node:stream/consumers';
import { barePod } from './workloads.ts';

export interface ReviewTarget {
  port: number;
  path: string;
  /** The server name that the API server sends (SNI) and that the certificate must contain. */
  serverName: string;
  authority: string;
}

export interface ReviewAnswer {
  status: number;
  text: string;
  review: AnsweredReview | undefined;
}

interface AnsweredReview {
  apiVersion: string;
  response?: { uid: string; allowed: boolean; patch?: string; patchType?: string; status?: { message?: string } };
}

interface PostOptions {
  /** An agent that keeps connections open. By default, each review uses a new connection. */
  agent?: Agent;
  /** Called when a connection is opened for the review. */
  onConnect?: () => void;
}

/**
 * Posts a body to a webhook on this machine and verifies its certificate, as the API server does.
 */
export function postReview(
  target: ReviewTarget,
  body: string,
  { agent, onConnect }: PostOptions = {},
): Promise<ReviewAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port: target.port,
        path: `${target.path}?timeout=10s`,
        method: 'POST',
        servername: target.serverName,
        ca: target.authority,
        agent: agent ?? false,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      },
      (response) => {
        const { statusCode: status = 0 } = response;
        readText(response).then((text) => resolve({ status, text, review: parse(text) }), reject);
      },
    );
    outgoing.setTimeout(15_000, () => outgoing.destroy(new Error('no answer within 15 s')));
    outgoing.on('error', reject);
    outgoing.on('socket', (socket) => {
      if (socket.connecting) onConnect?.();
    });
    outgoing.end(body);
  });
}

function parse(text: string): AnsweredReview | undefined {
  try {
    const value = JSON.parse(text) as Partial<AnsweredReview> | null;
    return typeof value?.apiVersion === 'string' ? { ...value, apiVersion: value.apiVersion } : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the JSON of an AdmissionReview for the creation of a pod. */
export function podReview(uid: string): string {
  const request = {
    uid,
    kind: { group: '', version: 'v1', kind: 'Pod' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    namespace: 'default',
    operation: 'CREATE',
    object: barePod('default', 'posted'),
  };
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request });
}
