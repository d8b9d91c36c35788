import { ConfigurationError } from '../../api/errors.ts';
import { apiVersion } from '../../api/injector-config/injector-config.ts';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';
import { revisionTagKind, type RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { validateRevisionTag } from '../../api/revision-tag/revision-tag-rules.ts';

/** A request to create or move a tag. */
export interface TagRequest {
  readonly name: string;
  readonly revision: string;
  /** Undefined keeps the value of an existing tag, and means false for a new tag. */
  readonly autoInjectNamespaces: boolean | undefined;
}

/**
 * Returns the RevisionTag for a request.
 * @param before the existing tag, whose other fields are kept
 * @throws ConfigurationError for an invalid name, or a field that is not allowed for this tag
 */
export function tagManifest(
  { name, revision, autoInjectNamespaces }: TagRequest,
  operatorClass?: string,
  before?: RevisionTag,
): RevisionTag {
  const enableNamespacesByDefault = autoInjectNamespaces ?? before?.spec.enableNamespacesByDefault ?? false;
  const spec = { revision, enableNamespacesByDefault, ...(operatorClass === undefined ? {} : { operatorClass }) };
  const tag = parseRevisionTag({ apiVersion, kind: revisionTagKind, metadata: { name }, spec });
  const [mistake] = validateRevisionTag(tag);
  if (mistake !== undefined) throw new ConfigurationError(mistake.field, `RevisionTag ${name}: ${mistake.message}`);
  return tag;
}

/** Returns the manifest without default values. */
export function briefTagManifest({ metadata: { name }, spec }: RevisionTag): object {
  const { revision, operatorClass, enableNamespacesByDefault } = spec;
  return {
    apiVersion,
    kind: revisionTagKind,
    metadata: { name },
    spec: {
      revision,
      ...(operatorClass === 'default' ? {} : { operatorClass }),
      ...(enableNamespacesByDefault ? { enableNamespacesByDefault } : {}),
    },
  };
}
