import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';

/** The parts of an audit event (audit.k8s.io/v1, level Metadata) that scenarios read. */
export interface AuditEvent {
  auditID: string;
  verb: string;
  requestURI: string;
  user: { username: string; extra?: Record<string, string[]> };
  userAgent?: string;
  objectRef?: { resource?: string; subresource?: string; namespace?: string; name?: string; apiGroup?: string };
  responseStatus?: { code?: number; reason?: string; message?: string };
  requestReceivedTimestamp: string;
  stageTimestamp: string;
  annotations?: Record<string, string>;
}

const writeVerbs = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** What the API server has recorded. A request is in the file before its response is sent. */
export class AuditLog {
  readonly #file: string;
  readonly #start: number;

  constructor(file: string) {
    this.#file = file;
    this.#start = statSync(file).size;
  }

  /** The events since this object was made, in the order in which the requests ended. */
  events(): AuditEvent[] {
    const file = openSync(this.#file, 'r');
    try {
      const buffer = Buffer.alloc(fstatSync(file).size - this.#start);
      readSync(file, buffer, 0, buffer.length, this.#start);
      const text = buffer.toString('utf8');
      // A record that is being written has no newline yet.
      const complete = text.slice(0, text.lastIndexOf('\n') + 1);
      return complete
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as AuditEvent);
    } finally {
      closeSync(file);
    }
  }

  /** Successful and failed writes of one user, those of Leases apart when `leases` is false. */
  writesBy(username: string, leases = true): AuditEvent[] {
    return this.events().filter(
      (event) =>
        event.user.username === username &&
        writeVerbs.has(event.verb) &&
        (leases || event.objectRef?.resource !== 'leases'),
    );
  }
}

/** One line for people: `create pods walk/sleep-1 by system:… → 201`. */
export function describeEvent(event: AuditEvent): string {
  const { resource = event.requestURI, subresource, namespace, name } = event.objectRef ?? {};
  const what = [resource, subresource].filter((part) => part !== undefined).join('/');
  const where = [namespace, name].filter((part) => part !== undefined).join('/');
  const status = `${event.responseStatus?.code ?? '?'} ${event.responseStatus?.message ?? ''}`.trim();
  return `${event.verb} ${what} ${where} by ${event.user.username} → ${status}`;
}
