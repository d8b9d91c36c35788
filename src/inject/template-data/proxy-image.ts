import type { Values } from '../configuration/values.ts';
import type { Message } from '../mesh/decode-message.ts';
import { isJsonObject } from '../patch/json-value.ts';

/** The pod annotation that selects the proxy image type, e.g. distroless. */
export const imageTypeAnnotation = 'sidecar.istio.io/proxyImageType';

type Annotations = Readonly<Record<string, string>>;

/** Returns `.ProxyImage` like Istio's ProxyImage; ProxyConfig overrides the variant. */
export function proxyImage(values: Values, { image }: Message, annotations: Annotations): string {
  const imageType = isJsonObject(image) && typeof image.imageType === 'string' ? image.imageType : '';
  return imageUrl(values, values.proxyImage, imageType, annotations);
}

/** Returns `.ProxyInitImage` like Istio's ProxyInitImage, independent of ProxyConfig. */
export function proxyInitImage(values: Values, annotations: Annotations): string {
  return imageUrl(values, values.proxyInitImage, '', annotations);
}

/**
 * Builds a URL like Istio's proxyImageURL. The pod's annotation overrides the variant, even if the
 * annotation is empty. A variant replaces the variant in the tag; `default` only removes it.
 */
function imageUrl({ hub, tag, variant }: Values, name: string, imageType: string, annotations: Annotations): string {
  const own = Object.hasOwn(annotations, imageTypeAnnotation) ? annotations[imageTypeAnnotation] : undefined;
  const suffix = own ?? (imageType || variant);
  if (suffix === '') return `${hub}/${name}:${tag}`;
  const plain = tag.replace(/-(distroless|debug)$/, '');
  return `${hub}/${name}:${suffix === 'default' ? plain : `${plain}-${suffix}`}`;
}
