import { dnsLabelPattern } from './field-types.ts';
import type { ValidationRule } from './injector-config-rules.ts';
import { defaultRevision, type RevisionTag } from './revision-tag.ts';

/** Rules over the whole object. */
export const revisionTagRules: readonly ValidationRule<RevisionTag>[] = [
  {
    field: 'metadata.name',
    rule: `self.metadata.name.size() <= 63 && self.metadata.name.matches('${dnsLabelPattern.source}')`,
    message: 'metadata.name must be a DNS-1123 label of at most 63 characters: it is the value of a label',
    holds: ({ metadata: { name } }) => name.length <= 63 && dnsLabelPattern.test(name),
  },
  {
    field: 'spec.revision',
    rule: `self.metadata.name == '${defaultRevision}' || self.metadata.name != self.spec.revision`,
    message: `spec.revision must not be the tag's own name, a tag is a second name for a revision: name the revision, or the tag otherwise`,
    holds: ({ metadata: { name }, spec }) => name === defaultRevision || name !== spec.revision,
  },
  {
    field: 'spec.enableNamespacesByDefault',
    rule: `self.metadata.name == '${defaultRevision}' || !has(self.spec.enableNamespacesByDefault) || !self.spec.enableNamespacesByDefault`,
    message: `spec.enableNamespacesByDefault belongs to tag ${defaultRevision}, which alone takes pods without labels: remove it here`,
    holds: ({ metadata: { name }, spec }) => name === defaultRevision || !spec.enableNamespacesByDefault,
  },
];

/** Another class would leave behind what the operator of this one has written. */
export const tagOperatorClassIsImmutable = {
  field: 'spec.operatorClass',
  rule: "(has(self.operatorClass) ? self.operatorClass : 'default') == (has(oldSelf.operatorClass) ? oldSelf.operatorClass : 'default')",
  message:
    'spec.operatorClass cannot be set, changed or removed: delete this RevisionTag and create it again with the other class',
} as const;
