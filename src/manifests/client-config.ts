import { base64 } from './secrets.ts';
import type { ManifestContext } from './manifest-context.ts';
import { servicePort } from './service.ts';

export interface ClientConfigInput {
  readonly service: string;
  readonly path: string;
  readonly caBundlePem: string;
  /** Instead of the Service: https://HOST[:PORT][/PATH], to which `path` is appended. */
  readonly url?: string;
}

/** WebhookClientConfig of admissionregistration.k8s.io/v1, with every default written out so that comparing finds no difference. */
export function clientConfig(
  { service, path, caBundlePem, url }: ClientConfigInput,
  { namespace, advertise }: ManifestContext,
): Record<string, unknown> {
  const caBundle = base64(caBundlePem);
  if (url !== undefined) return { caBundle, url: withoutTrailingSlashes(url) + path };
  return { caBundle, service: { namespace, name: service, path, port: advertise?.port ?? servicePort } };
}

function withoutTrailingSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end -= 1;
  return url.slice(0, end);
}
