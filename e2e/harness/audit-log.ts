import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';

/** The parts of an audit event (audit.k8s.io/v1) that scenarios read. */
export interface AuditEvent {
  verb: string;
  requestURI: string;
  user: { username: string; extra?: Record<string, string[]> };
  userAgent?: string;
  objectRef?: { resource?: string; subresource?: string; namespace?: string; name?: string; apiGroup?: string };
  responseStatus?: { code?: number; reason?: string; message?: string };
  requestReceivedTimestamp: string;
  stageTimestamp: string;
  annotations?: Record<string, string>;
  /** The response, which is recorded only for writes of MutatingWebhookConfigurations. */
  responseObject?: { webhooks?: { clientConfig?: { caBundle?: string } }[] };
}

const writeVerbs = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** Reads the API server's audit log, which records a request before its response is sent. */
export class AuditLog {
  readonly #file: string;
  readonly #events: AuditEvent[] = [];
  /** The offset in the file up to which this object has read. */
  #position: number;

  constructor(file: string) {
    this.#file = file;
    this.#position = statSync(file).size;
  }

  /** Returns the events since construction, in order of completion. */
  events(): AuditEvent[] {
    const file = openSync(this.#file, 'r');
    try {
      const buffer = Buffer.alloc(fstatSync(file).size - this.#position);
      readSync(file, buffer, 0, buffer.length, this.#position);
      // The last record may be incomplete. An incomplete record has no newline yet.
      const complete = buffer.subarray(0, buffer.lastIndexOf(0x0a) + 1);
      this.#position += complete.length;
      // All records together can be longer than a string may be.
      for (let start = 0; start < complete.length;) {
        const end = complete.indexOf(0x0a, start);
        if (end > start) this.#events.push(JSON.parse(complete.toString('utf8', start, end)) as AuditEvent);
        start = end + 1;
      }
      return [...this.#events];
    } finally {
      closeSync(file);
    }
  }

  /** Returns a user's successful and failed writes; excludes Leases if `leases` is false. */
  writesBy(username: string, leases = true): AuditEvent[] {
    return this.events()
      .filter(({ user, verb }) => user.username === username && writeVerbs.has(verb))
      .filter(({ objectRef }) => leases || objectRef?.resource !== 'leases');
  }
}

/** Formats an event as one line, such as `create pods walk/sleep-1 by system:… → 201`. */
export function describeEvent(event: AuditEvent): string {
  const { resource = event.requestURI, subresource, namespace, name } = event.objectRef ?? {};
  const what = [resource, subresource].filter((part) => part !== undefined).join('/');
  const where = [namespace, name].filter((part) => part !== undefined).join('/');
  const status = `${event.responseStatus?.code ?? '?'} ${event.responseStatus?.message ?? ''}`.trim();
  return `${event.verb} ${what} ${where} by ${event.user.username} → ${status}`;
}
