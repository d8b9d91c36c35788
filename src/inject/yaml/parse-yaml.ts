import { loadAll, YAMLException, type LoadOptions, Schema, Type, type TypeConstructorOptions } from 'js-yaml';
import { finishDocument } from './finish-document.ts';
import { readSimpleYaml } from './read-simple-yaml.ts';
import { YamlError } from './yaml-error.ts';
import { PlaceDependent, resolvePlain } from './plain-scalar.ts';

/**
 * What tags mean to Go's yaml.v2: those of YAML 1.1's scalars as usual; any other tag is ignored. Plain scalars without a tag are all resolved by
 * one type: js-yaml asks each type of its list in turn, and most scalars are strings.
 */
const goSchema = new Schema({
  implicit: [scalar('tag:yaml.org,2002:plain', (text) => resolvePlain(text))],
  explicit: [
    scalar('tag:yaml.org,2002:str', (text) => text),
    plain('int', (value) => typeof value === 'number'),
    plain('float', (value) => typeof (value instanceof PlaceDependent ? value.value : value) === 'number'),
    plain('bool', (value) => typeof value === 'boolean'),
    plain('null', (value) => value instanceof PlaceDependent && value.value === null),
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

/** A scalar type; `construct` gives `undefined` for a text that is none of the type's. */
function scalar(tag: string, construct: (text: string) => unknown): Type {
  const options: TypeConstructorOptions = {
    kind: 'scalar',
    resolve: (text: string | null) => construct(text ?? '') !== undefined,
    construct: (text: string | null) => construct(text ?? ''),
  };
  return new Type(tag, options);
}

/** The type of the plain scalars whose values are of a kind. */
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

/** How deep lists and mappings may be nested. */
const mostLevels = 500;

/**
 * Reads the first document of a YAML text as Go's sigs.k8s.io/yaml does, which Kubernetes and Istio use: YAML 1.1 (`y`, `no`, `on` and their like
 * are booleans, `0777` is octal, timestamps stay strings), keys become strings, of a key that occurs twice the last one counts.
 * `null` for a text without a document. Values that aliases repeat are shared: do not change the result.
 * @throws YamlError naming the line
 */
export function parseYaml(text: string): unknown {
  return readSimpleYaml(text) ?? parseAnyYaml(text);
}

/** {@link parseYaml} without the short cut for simple texts. */
export function parseAnyYaml(text: string): unknown {
  try {
    const options: LoadOptions & { maxDepth: number } = { schema: goSchema, json: true, maxDepth: mostLevels };
    const [first = null] = loadAll(text, null, options);
    return finishDocument(first);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw new YamlError(error.reason, error.mark.line + 1, { cause: error });
  }
}
