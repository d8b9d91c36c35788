import { loadAll, YAMLException, type LoadOptions } from 'js-yaml';
import { finishDocument } from './finish-document.ts';
import { readSimpleYaml } from './read-simple-yaml.ts';
import { YamlError } from './yaml-error.ts';
import { goSchema } from './yaml-schema.ts';

/** Bounds for documents that somebody sends us. */
export interface YamlLimits {
  /** How deep lists and mappings may be nested. */
  readonly depth: number;
  /** Of how many keys and values the document may consist when its aliases are written out. */
  readonly nodes: number;
}

const DEFAULT_LIMITS: YamlLimits = { depth: 500, nodes: 1_000_000 };

/**
 * Reads the first document of a YAML text as Go's sigs.k8s.io/yaml does, which Kubernetes and Istio use: YAML 1.1 (`y`, `no`, `on` and their like
 * are booleans, `0777` is octal, timestamps stay strings), keys become strings, of a key that occurs twice the last one counts.
 * `null` for a text without a document. Values that aliases repeat are shared: do not change the result.
 * @throws YamlError naming the line
 */
export function parseYaml(text: string, limits: Partial<YamlLimits> = {}): unknown {
  return readSimpleYaml(text) ?? parseAnyYaml(text, limits);
}

/** {@link parseYaml} without the short cut for simple texts. */
export function parseAnyYaml(text: string, limits: Partial<YamlLimits> = {}): unknown {
  const { depth, nodes } = { ...DEFAULT_LIMITS, ...limits };
  return finishDocument(readFirstDocument(text, depth), nodes);
}

function readFirstDocument(text: string, maxDepth: number): unknown {
  try {
    const options: LoadOptions & { maxDepth: number } = { schema: goSchema, json: true, maxDepth };
    const [first = null] = loadAll(text, null, options);
    return first;
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw new YamlError(error.reason, error.mark.line + 1, { cause: error });
  }
}
