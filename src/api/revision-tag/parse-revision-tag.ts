import { parseResource, type ParseOptions } from '../parse-resource.ts';
import { revisionTagKind, revisionTagSpecSchema, type RevisionTag } from './revision-tag.ts';
import { revisionTagStatusSchema } from './revision-tag-status.ts';

/** Reads a RevisionTag as the API server would: schema and defaults, no rules. @throws ConfigurationError */
export function parseRevisionTag(object: unknown, options: ParseOptions = {}): RevisionTag {
  return parseResource(revisionTagKind, revisionTagSpecSchema, revisionTagStatusSchema, object, options);
}
