import { z } from 'zod';

const time = z.iso.datetime().transform((text) => new Date(text));
const fingerprint = z.string();

const terms = z.object({
  issuedAt: time,
  duration: z.number().positive(),
  keySize: z.int().positive(),
  jitter: z.number().min(0).lt(1),
});

const authority = z.object({
  fingerprint,
  terms,
  /** Somebody else has the key. */
  given: z.literal(true).exactOptional(),
  publishedAt: time.exactOptional(),
  lastLeafNotAfter: time.exactOptional(),
});

const record = z.object({
  version: z.literal(1),
  authority: authority.exactOptional(),
  staged: authority.exactOptional(),
  leaf: z.object({ fingerprint, terms }).exactOptional(),
  retiring: z.array(z.object({ fingerprint, retireAfter: time })),
  request: z
    .object({
      nonce: z.string(),
      target: z.enum(['leaf', 'authority', 'authority-force']),
      state: z.enum(['Accepted', 'Done']),
    })
    .exactOptional(),
});

/** `rotation.json` of the stored Secret: the times of each part, and its fingerprint, by which a lost or foreign part is noticed. */
export type RotationRecord = z.input<typeof record>;

/** The same with times as Dates. */
export type ReadRotationRecord = z.output<typeof record>;

/** Reads the record; undefined when it is missing, damaged or of a version that this operator does not know. */
export function readRotationRecord(json: string | undefined): ReadRotationRecord | undefined {
  try {
    return record.safeParse(JSON.parse(json ?? '')).data;
  } catch {
    return undefined;
  }
}
