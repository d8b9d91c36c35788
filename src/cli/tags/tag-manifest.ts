import { ConfigurationError } from '../../api/errors.ts';
import { apiVersion } from '../../api/injector-config/injector-config.ts';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';
import { revisionTagKind, type RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { validateRevisionTag } from '../../api/revision-tag/revision-tag-rules.ts';

/** What a person asks for. */
export interface TagRequest {
  readonly name: string;
  readonly revision: string;
  /** Undefined: as it is, and off for a new tag. */
  readonly autoInjectNamespaces: boolean | undefined;
}

/**
 * The RevisionTag of a request.
 * @param before the tag as it is; what the request does not speak of stays
 * @throws ConfigurationError when no cluster could take it: a name that is none, a field that does not belong to this tag
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

/** The manifest without what is as it would be anyway, for people and files. */
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
