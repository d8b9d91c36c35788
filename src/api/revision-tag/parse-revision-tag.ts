import { parseResource, type ParseOptions } from '../parse-resource.ts';
import { revisionTagKind, revisionTagSpecSchema, type RevisionTag, revisionTagStatusSchema } from './revision-tag.ts';

/** Parses a RevisionTag and sets defaults; checks no rules. @throws ConfigurationError */
export function parseRevisionTag(object: unknown, options: ParseOptions = {}): RevisionTag {
  return parseResource(revisionTagKind, revisionTagSpecSchema, revisionTagStatusSchema, object, options);
}
