import { parseAllDocuments, type Document, type Tags } from 'yaml';

/** A document of a YAML stream, as text and in parsed form. */
export interface SourceDocument {
  readonly text: string;
  readonly document: Document;
}

/** YAML 1.1 types without a JSON equivalent; Kubernetes does not support them. */
const foreignTags: ReadonlySet<string> = new Set(
  ['timestamp', 'binary', 'omap', 'pairs', 'set'].map((name) => `tag:yaml.org,2002:${name}`),
);

/** YAML 1.1, as in Kubernetes: unquoted yes, no, on and off are booleans. */
export const yamlOptions = {
  version: '1.1',
  customTags: (tags: Tags): Tags => tags.filter((tag) => typeof tag === 'string' || !foreignTags.has(tag.tag)),
} as const;

/**
 * Splits a YAML stream at its `---` lines, so that unchanged documents keep their text.
 * @throws Error with the line and column in the file if a document is not YAML
 */
export function readDocuments(text: string): SourceDocument[] {
  const documents: SourceDocument[] = [];
  let line = 0;
  for (const part of text.split(/^---(?:[ \t].*)?(?:\r?\n|$)/m)) {
    const [document] = parseAllDocuments(part, yamlOptions);
    if (document !== undefined && part.trim() !== '') {
      const [error] = document.errors;
      if (error !== undefined) {
        const [position] = error.linePos ?? [];
        const where = position === undefined ? '' : `line ${line + position.line}, column ${position.col}: `;
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
