import { Buffer } from 'node:buffer';
import { loadAll, YAMLException, type LoadOptions, Schema, Type, type TypeConstructorOptions } from 'js-yaml';
import { finishDocument } from './finish-document.ts';
import { isMark, markLoneDashes, unmarkedPosition, withoutMarks } from './lone-dash.ts';
import { readSimpleYaml } from './read-simple-yaml.ts';
import { YamlError } from './yaml-error.ts';
import { PositionDependent, resolvePlain } from './plain-scalar.ts';

/**
 * The tags of Go's yaml.v2: YAML 1.1's scalar tags. Other tags are ignored. One type resolves all
 * untagged plain scalars, because js-yaml would try several implicit types in turn.
 */
export const goSchema = new Schema({
  implicit: [scalar('tag:yaml.org,2002:plain', (text) => resolvePlain(text))],
  explicit: [
    scalar('tag:yaml.org,2002:str', (text) => text),
    plain('int', (value) => typeof value === 'number'),
    plain('float', (value) => typeof (value instanceof PositionDependent ? value.value : value) === 'number'),
    plain('bool', (value) => typeof value === 'boolean'),
    plain('null', (value) => value instanceof PositionDependent && value.value === null),
    scalar('tag:yaml.org,2002:timestamp', (text) => (/^\d{4}-\d{1,2}-\d{1,2}/.test(text) ? text : undefined)),
    scalar('tag:yaml.org,2002:binary', decodeBase64),
    scalar('tag:yaml.org,2002:merge', (text) => (text === '<<' ? resolvePlain(text) : undefined)),
    ...(['scalar', 'sequence', 'mapping'] as const).flatMap((kind) =>
      ['!', 'tag:'].map(
        (prefix) => new Type(prefix, { kind, multi: true, construct: (value: unknown) => value ?? '' }),
      ),
    ),
  ],
});

/** Returns a scalar type; `construct` returns `undefined` for a text of another type. */
function scalar(tag: string, construct: (text: string) => unknown): Type {
  const options: TypeConstructorOptions = {
    kind: 'scalar',
    resolve: (text: string | null) => construct(text ?? '') !== undefined,
    construct: (text: string | null) => construct(text ?? ''),
  };
  return new Type(tag, options);
}

/** Returns the type of plain scalars whose value `isOfKind` accepts. */
function plain(name: string, isOfKind: (value: unknown) => boolean): Type {
  return scalar(`tag:yaml.org,2002:${name}`, (text) => {
    const value = resolvePlain(text);
    return isOfKind(value) ? value : undefined;
  });
}

function decodeBase64(text: string): string | undefined {
  const valid = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text);
  return valid ? Buffer.from(text, 'base64').toString('utf8') : undefined;
}

/** The maximum nesting of lists and mappings. */
const maxDepth = 500;

/**
 * Parses the first document of a text like Go's sigs.k8s.io/yaml: YAML 1.1 (`y`, `no`, `on` are
 * booleans, `0777` is octal, timestamps are strings), keys become strings, the last duplicate wins.
 * Returns `null` if there is no document. Aliased values are shared: do not change the result.
 * @throws YamlError that names the line
 */
export function parseYaml(text: string): unknown {
  return readSimpleYaml(text) ?? parseAnyYaml(text);
}

/** Parses like {@link parseYaml}, but without the fast path for simple texts. */
export function parseAnyYaml(text: string): unknown {
  const marked = markLoneDashes(text);
  const [first = null] = loadLikeGo(marked);
  const value = finishDocument(first);
  return marked === text ? value : withoutMarks(value);
}

function loadLikeGo(text: string, listener?: LoadOptions['listener']): unknown[] {
  try {
    const options: LoadOptions & { maxDepth: number } = {
      schema: goSchema,
      json: true,
      maxDepth,
      ...(listener && { listener }),
    };
    return loadAll(text, null, options);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { line, column } = error.mark;
    throw new YamlError(error.reason, line + 1, { column: column + 1, cause: error });
  }
}

/** A value or a key of a document, with what the parser has read for it. */
export interface YamlEvent {
  /** Includes spaces, comments, anchors and tags before it. */
  readonly from: number;
  readonly to: number;
  /** Null for an alias, or nothing. */
  readonly kind: 'scalar' | 'sequence' | 'mapping' | null;
  /** The name of a key as Go reads it; it begins with MERGE_KEY for a merge key. */
  readonly name: string;
  readonly children: readonly YamlEvent[];
}

/** Returns the places of the values of a valid document; undefined if it is empty. */
export function yamlEvents(text: string): YamlEvent | undefined {
  // The parser omits a byte order mark.
  const shift = text.startsWith('\ufeff') ? 1 : 0;
  const open: { from: number; children: YamlEvent[] }[] = [{ from: 0, children: [] }];
  const marked = markLoneDashes(text);
  const unmarked = marked === text ? (at: number): number => at : unmarkedPosition(marked);
  loadLikeGo(marked, (type, { position, kind, result }) => {
    const at = unmarked(position + shift);
    if (type === 'open') {
      open.push({ from: at, children: [] });
      return;
    }
    const { from, children } = open.pop() ?? { from: 0, children: [] };
    if (isMark(result)) return;
    const isName = kind === 'scalar' && (typeof result !== 'object' || result instanceof PositionDependent);
    const name = isName ? String(result) : '';
    open.at(-1)?.children.push({ from, to: at, kind: kind as YamlEvent['kind'], name, children });
  });
  return open[0]?.children[0];
}
