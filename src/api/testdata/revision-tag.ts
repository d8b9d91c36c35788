import { apiVersion } from '../injector-config/injector-config.ts';
import { parseRevisionTag } from '../revision-tag/parse-revision-tag.ts';
import type { RevisionTag } from '../revision-tag/revision-tag.ts';

/** Returns a RevisionTag with defaults and revision `1-24`; `spec` overrides its fields. */
export function revisionTag(name: string, spec: Record<string, unknown> = {}): RevisionTag {
  return parseRevisionTag({
    apiVersion,
    kind: 'RevisionTag',
    metadata: { name, uid: `uid-of-tag-${name}` },
    spec: { revision: '1-24', ...spec },
  });
}
