import { loadAll, YAMLException, type LoadOptions } from 'js-yaml';
import { finishDocument } from './finish-document.ts';
import { readSimpleYaml } from './read-simple-yaml.ts';
import { YamlError } from './yaml-error.ts';
import { goSchema } from './yaml-schema.ts';

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
