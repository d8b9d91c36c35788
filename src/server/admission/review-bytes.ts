import { reviewVersions } from './admission-decision.ts';

/** A review's uid, which is unique, and its rest, which is equal for all pods of a ReplicaSet. */
export type ReviewBytes = Readonly<NonNullable<ReturnType<typeof splitReview>>>;

const prefixes = reviewVersions.map((version) => ({
  version,
  bytes: Buffer.from(`{"kind":"AdmissionReview","apiVersion":"${version}","request":{"uid":"`),
}));

/** The API server's uids are UUIDs, which need no escapes in JSON. */
const uidLength = 36;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"$/;

/** Splits a review from Go's encoder at its uid; returns undefined for other layouts. */
export function splitReview(body: Buffer) {
  for (const { version, bytes } of prefixes) {
    const uidStart = bytes.length;
    if (body.length < uidStart + uidLength || body.compare(bytes, 0, uidStart, 0, uidStart) !== 0) continue;
    const quoted = body.toString('latin1', uidStart, uidStart + uidLength + 1);
    const uid = quoted.slice(0, uidLength);
    // `rest` shares the memory of the body.
    return uuid.test(quoted) ? { version, uid, rest: body.subarray(uidStart + uidLength) } : undefined;
  }
  return undefined;
}

/** The start of a review, in bytes, with the namespace: the API server writes it before objects. */
const headBytes = 4096;

/** Returns the namespace of a review, or '' if its start has none. */
export function namespaceIn(body: Buffer): string {
  return /"namespace":"([-a-z0-9]{1,63})"/.exec(body.toString('latin1', 0, headBytes))?.[1] ?? '';
}
