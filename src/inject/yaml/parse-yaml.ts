import { CORE_SCHEMA, load } from 'js-yaml';

/** Reads YAML as Go's sigs.k8s.io/yaml does, into plain JSON values. @throws YamlError naming line and column */
export function parseYaml(text: string): unknown {
  return load(text, { schema: CORE_SCHEMA });
}
