import { parseYaml } from '../yaml/parse-yaml.ts';
import type { Message } from './decode-message.ts';
import { decodeProxyConfig } from './proxy-config.ts';

/** The pod annotation that changes the proxy's configuration. */
export const proxyConfigAnnotation = 'proxy.istio.io/config';

/** The annotation's value as a message of its own; `undefined` for one that cannot be read, which the validation of annotations reports. */
export function annotationProxyConfig(value: string): Message | undefined {
  try {
    return decodeProxyConfig(parseYaml(value));
  } catch {
    return undefined;
  }
}
