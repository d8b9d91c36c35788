import { parseResource, type ParseOptions } from '../parse-resource.ts';
import { revisionTagKind, revisionTagSpecSchema, type RevisionTag } from './revision-tag.ts';
import { revisionTagStatusSchema } from './revision-tag-status.ts';

/**
 * Reads a RevisionTag as the API server would: checks the schema and fills in the defaults. Rules over the object are checked by
 * {@link import('./validate-revision-tag.ts').validateRevisionTag}.
 * @throws ConfigurationError that names the object, the field and the value.
 */
export function parseRevisionTag(object: unknown, options: ParseOptions = {}): RevisionTag {
  return parseResource(revisionTagKind, revisionTagSpecSchema, revisionTagStatusSchema, object, options);
}
