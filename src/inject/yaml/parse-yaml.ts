import { readNodes } from './read-nodes.ts';
import { readSimpleYaml } from './read-simple-yaml.ts';
import { valueOfNode } from './value-of-node.ts';

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
  const root = readNodes(text);
  return root === undefined ? null : valueOfNode(root);
}
