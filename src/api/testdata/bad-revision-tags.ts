/** A RevisionTag that must be refused, and by whom: `schema` by the structural schema, `rule` by CEL with the same sentence as ours. */
export interface BadRevisionTag {
  readonly title: string;
  readonly name: string;
  readonly spec: Record<string, unknown>;
  readonly field: string;
  readonly refusedBy: 'schema' | 'rule';
  readonly message: RegExp;
}

const revision = '1-24';

export const badRevisionTags: readonly BadRevisionTag[] = [
  { title: 'no revision', name: 'prod', spec: {}, field: 'spec.revision', refusedBy: 'schema', message: /[Rr]equired|string/ },
  { title: 'an empty revision', name: 'prod', spec: { revision: '' }, field: 'spec.revision', refusedBy: 'schema', message: /1|should match|DNS-1123/ },
  { title: 'a revision in capitals', name: 'prod', spec: { revision: 'Canary' }, field: 'spec.revision', refusedBy: 'schema', message: /DNS-1123|should match/ },
  { title: 'a revision that is no label value', name: 'prod', spec: { revision: 'r'.repeat(64) }, field: 'spec.revision', refusedBy: 'schema', message: /63/ },
  { title: 'an operator class with a dot', name: 'prod', spec: { revision, operatorClass: 'a.b' }, field: 'spec.operatorClass', refusedBy: 'schema', message: /DNS-1123|should match/ },
  { title: 'yes in quotes', name: 'default', spec: { revision, enableNamespacesByDefault: 'yes' }, field: 'spec.enableNamespacesByDefault', refusedBy: 'schema', message: /boolean/ },
  { title: 'a name with a dot', name: 'a.b', spec: { revision }, field: 'metadata.name', refusedBy: 'rule', message: /value of a label/ },
  { title: 'a name that is no label value', name: 't'.repeat(64), spec: { revision }, field: 'metadata.name', refusedBy: 'rule', message: /at most 63/ },
  { title: 'a tag that means itself', name: 'prod', spec: { revision: 'prod' }, field: 'spec.revision', refusedBy: 'rule', message: /own name/ },
  { title: 'namespaces by default without being the default', name: 'prod', spec: { revision, enableNamespacesByDefault: true }, field: 'spec.enableNamespacesByDefault', refusedBy: 'rule', message: /belongs to tag default/ },
];
