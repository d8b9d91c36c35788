import { reviewVersions } from './admission-decision.ts';

/** The bytes of a review around its uid: the API server gives every review a new uid, and all pods of a ReplicaSet the same rest. */
export type ReviewBytes = Readonly<NonNullable<ReturnType<typeof splitReview>>>;

const beginnings = reviewVersions.map((version) => ({
  version,
  bytes: Buffer.from(`{"kind":"AdmissionReview","apiVersion":"${version}","request":{"uid":"`),
}));

/** The API server's uids are UUIDs; nothing in one needs an escape in JSON. */
const uidLength = 36;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"$/;

/** Finds the uid where Go's encoder puts it; undefined for a review that is written in any other way, which is as good but has to be parsed. */
export function splitReview(body: Buffer) {
  for (const { version, bytes } of beginnings) {
    const uidStart = bytes.length;
    if (body.length < uidStart + uidLength || body.compare(bytes, 0, uidStart, 0, uidStart) !== 0) continue;
    const quoted = body.toString('latin1', uidStart, uidStart + uidLength + 1);
    const uid = quoted.slice(0, uidLength);
    // `rest` are the bytes behind the uid, in the memory of the body.
    return uuid.test(quoted) ? { version, uid, rest: body.subarray(uidStart + uidLength) } : undefined;
  }
  return undefined;
}
