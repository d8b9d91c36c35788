import { isAlias, isMap, isScalar, LineCounter, parseAllDocuments, visit, YAMLParseError } from 'yaml';
import type { Document, ErrorCode, Node, Tags } from 'yaml';

/** A document of a YAML stream, as text and in parsed form. */
export interface SourceDocument {
  readonly text: string;
  readonly document: Document;
}

/** YAML 1.1 types without a JSON equivalent; Kubernetes does not support them. */
const foreignTags: ReadonlySet<string> = new Set(
  ['timestamp', 'binary', 'omap', 'pairs', 'set'].map((name) => `tag:yaml.org,2002:${name}`),
);

/** The aliases and anchors of a document; the library takes time for each pair. */
const mostAliases = 5000;

/**
 * YAML 1.1, as in Kubernetes: unquoted yes, no, on and off are booleans. Without what takes
 * quadratic time in the library: the search for equal keys, and excerpts in errors.
 */
export const yamlOptions = {
  version: '1.1',
  uniqueKeys: false,
  prettyErrors: false,
  customTags: (tags: Tags): Tags => tags.filter((tag) => typeof tag === 'string' || !foreignTags.has(tag.tag)),
} as const;

/** Parses a YAML stream. Equal keys and too many aliases are errors of a document. */
export function parseDocuments(text: string, lineCounter = new LineCounter()) {
  return [...parseAllDocuments(text, { ...yamlOptions, lineCounter })].map((document) => {
    let aliases = 0;
    const refuse = (node: Node, code: ErrorCode, message: string): void => {
      const [start = 0, end = 0] = node.range ?? [];
      document.errors.push(new YAMLParseError([start, end], code, message));
    };
    const Node = (_key: unknown, node: Node): void => {
      if ((isAlias(node) || node.anchor !== undefined) && (aliases += 1) === mostAliases)
        refuse(node, 'BAD_ALIAS', `A document may have fewer than ${mostAliases} anchors and aliases; write them out`);
      const keys = new Set<unknown>();
      for (const { key } of isMap(node) ? node.items : [])
        if (isScalar(key) && keys.size === keys.add(key.value).size)
          refuse(key, 'DUPLICATE_KEY', 'Map keys must be unique');
    };
    visit(document, { Node });
    return document;
  });
}

/**
 * Splits a YAML stream at its `---` lines, so that unchanged documents keep their text.
 * @throws Error with the line and column in the file if a document is not YAML
 */
export function readDocuments(text: string): SourceDocument[] {
  const documents: SourceDocument[] = [];
  let line = 0;
  for (const part of text.split(/^---(?:[ \t].*)?(?:\r?\n|$)/m)) {
    const lineCounter = new LineCounter();
    const [document] = parseDocuments(part, lineCounter);
    if (document !== undefined && part.trim() !== '') {
      const [error] = document.errors;
      if (error !== undefined) {
        const position = lineCounter.linePos(error.pos[0]);
        throw new Error(`line ${line + position.line}, column ${position.col}: ${error.message}`, { cause: error });
      }
      documents.push({ text: part, document });
    }
    line += part.split('\n').length;
  }
  return documents;
}
