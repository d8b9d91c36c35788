import type { Values } from '../configuration/values.ts';
import type { Message } from '../mesh/decode-message.ts';
import { isJsonObject } from '../patch/json-value.ts';

/** The pod annotation that chooses the type of the proxy image, e.g. distroless. */
export const imageTypeAnnotation = 'sidecar.istio.io/proxyImageType';

type Annotations = Readonly<Record<string, string>>;

/** `.ProxyImage` (Istio's ProxyImage): hub, name and tag of the values; its variant is ProxyConfig's type of image, else the values' variant. */
export function proxyImage(values: Values, { image }: Message, annotations: Annotations): string {
  const imageType = isJsonObject(image) && typeof image.imageType === 'string' ? image.imageType : '';
  return imageUrl(values, values.proxyImage, imageType, annotations);
}

/** `.ProxyInitImage` (Istio's ProxyInitImage): the same for the init container, whose variant does not depend on ProxyConfig. */
export function proxyInitImage(values: Values, annotations: Annotations): string {
  return imageUrl(values, values.proxyInitImage, '', annotations);
}

/**
 * Istio's proxyImageURL. The pod's annotation replaces the variant, also by an empty one. Variants that Istio publishes are replaced where the tag has
 * one already; `default` is none.
 */
function imageUrl({ hub, tag, variant }: Values, name: string, imageType: string, annotations: Annotations): string {
  const own = Object.hasOwn(annotations, imageTypeAnnotation) ? annotations[imageTypeAnnotation] : undefined;
  const suffix = own ?? (imageType || variant);
  if (suffix === '') return `${hub}/${name}:${tag}`;
  const plain = tag.replace(/-(distroless|debug)$/, '');
  return `${hub}/${name}:${suffix === 'default' ? plain : `${plain}-${suffix}`}`;
}
