import { parseResource, type ParseOptions } from '../parse-resource.ts';
import { revisionTagKind, revisionTagSpecSchema, type RevisionTag, revisionTagStatusSchema } from './revision-tag.ts';

/** Reads a RevisionTag as the API server would: schema and defaults, no rules. @throws ConfigurationError */
export function parseRevisionTag(object: unknown, options: ParseOptions = {}): RevisionTag {
  return parseResource(revisionTagKind, revisionTagSpecSchema, revisionTagStatusSchema, object, options);
}
