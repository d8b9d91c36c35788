import { parseAllDocuments, type Document, type Tags } from 'yaml';

/** A document of a YAML stream, as text and parsed. */
export interface SourceDocument {
  readonly text: string;
  readonly document: Document;
}

/** Types of YAML 1.1 that JSON does not have: Kubernetes knows strings, lists and objects instead. */
const foreignTags: ReadonlySet<string> = new Set(
  ['timestamp', 'binary', 'omap', 'pairs', 'set'].map((name) => `tag:yaml.org,2002:${name}`),
);

/** YAML 1.1, as Kubernetes reads it: unquoted yes, no, on and off are booleans. */
const options = {
  version: '1.1',
  customTags: (tags: Tags): Tags => tags.filter((tag) => typeof tag === 'string' || !foreignTags.has(tag.tag)),
} as const;

/**
 * Splits a YAML stream at its `---` lines, so that documents which are not touched can be given back as they were.
 * @throws Error with line and column in the file when a document is not YAML
 */
export function readDocuments(text: string): SourceDocument[] {
  const documents: SourceDocument[] = [];
  let line = 0;
  for (const part of text.split(/^---(?:[ \t].*)?(?:\r?\n|$)/m)) {
    const [document] = parseAllDocuments(part, options);
    if (document !== undefined && part.trim() !== '') {
      const [error] = document.errors;
      if (error !== undefined) {
        const [place] = error.linePos ?? [];
        const where = place === undefined ? '' : `line ${line + place.line}, column ${place.col}: `;
        throw new Error(`${where}${error.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? ''}`, {
          cause: error,
        });
      }
      documents.push({ text: part, document });
    }
    line += part.split('\n').length;
  }
  return documents;
}
