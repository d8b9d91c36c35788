import { type ConfigurationFiles, filesOf } from '../../api/injector-config/configuration-files.ts';
import { configurationHash } from '../../api/injector-config/configuration-hash.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { labelNames } from '../../api/names.ts';
import { recordedMode, withFixedMode } from './native-mode.ts';

/** Returns the configuration in a ConfigMap if it matches the hash in the ConfigMap's label. */
export function verifiedFiles(configMap: KubernetesObject): { files: ConfigurationFiles; hash: string } | undefined {
  const hash = configMap.metadata.labels?.[labelNames.configurationHash];
  const files = filesOf(configMap);
  return files !== undefined && hash !== undefined && configurationHash(files) === hash ? { files, hash } : undefined;
}

/**
 * Returns the configuration that replicas load from a ConfigMap. Like {@link verifiedFiles}, but
 * with the recorded mode in place of `nativeSidecars: Auto`, which earlier releases stored.
 */
export function servedFiles(configMap: KubernetesObject): ReturnType<typeof verifiedFiles> {
  const verified = verifiedFiles(configMap);
  const mode = recordedMode(configMap);
  if (verified === undefined || mode === undefined) return verified;
  return { ...verified, files: withFixedMode(verified.files, mode) };
}
