import { isIP } from 'node:net';
import * as patterns from '../../api/kubernetes/field-types.ts';

/** Returns what is wrong with a text; undefined if nothing is. */
type Syntax = (text: string) => string | undefined;

function matching(pattern: RegExp, expected: string, longest = Infinity): Syntax {
  return unless((text) => text.length > longest || !pattern.test(text), `must be ${expected}`);
}

function unless(isWrong: (text: string) => boolean, detail: string): Syntax {
  return (text) => (isWrong(text) ? detail : undefined);
}

const dnsSubdomain = matching(patterns.dnsSubdomainPattern, 'lowercase letters, digits and "-", joined by "."', 253);
const hasBacksteps = (text: string): boolean => text.split('/').includes('..');
const relative = 'must be a relative path without ".."';
const inner = 'letters, digits and inner "-", "_" and "."';

/** The kinds of texts in a pod (k8s.io/apimachinery/pkg/util/validation). */
export const syntaxes = {
  dnsLabel: matching(patterns.dnsLabelPattern, 'at most 63 lowercase letters, digits and inner "-"', 63),
  dnsSubdomain,
  /** A name to which others may be appended. */
  namePrefix: (text) => dnsSubdomain(text.replace(/.-$/, 'a')),
  /** Newer API servers allow `_` in the search paths of DNS. */
  searchPath: (text) => (text === '.' ? undefined : dnsSubdomain(text.replace(/\.$/, '').replaceAll('_', 'a'))),
  labelValue: matching(patterns.labelValuePattern, `at most 63 ${inner}`, 63),
  qualifiedName: unless(
    (text) => !patterns.qualifiedNamePattern.test(text) || text.indexOf('/') > 253,
    `must be at most 63 ${inner}, also after a DNS name and "/"`,
  ),
  environmentName: matching(/^[ -<>-~]+$/, 'printable ASCII characters without "="'),
  headerName: matching(/^[-A-Za-z0-9]+$/, 'letters, digits and "-"'),
  portName: matching(/^(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$/, 'at most 15 a-z, 0-9 and single inner "-", with a-z', 15),
  dataKey: unless(
    (text) => text.length > 253 || !patterns.configMapKeyPattern.test(text) || text === '.' || text.startsWith('..'),
    'must be letters, digits, "-", "_" and ".", and must not begin with ".."',
  ),
  resourceField: matching(/^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.*)$/s, 'such as limits.cpu'),
  trimmed: unless((text) => text.trim() !== text, 'must not have leading or trailing whitespace'),
  noBacksteps: unless(hasBacksteps, 'must not contain ".."'),
  relativePath: unless((text) => text.startsWith('/') || hasBacksteps(text), relative),
  volumePath: unless((text) => /^(?:\/|\.\.)/.test(text) || hasBacksteps(text), relative),
  /** Older API servers also accept leading zeros. */
  ipAddress: unless((text) => isIP(text.replace(/(^|\.)0+(?=\d)/g, '$1')) === 0, 'must be an IP address'),
} as const satisfies Readonly<Record<string, Syntax>>;
