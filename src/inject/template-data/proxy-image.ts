import type { Values } from '../configuration/values.ts';
import type { Message } from '../mesh/decode-message.ts';
import { isJsonObject } from '../patch/json-value.ts';

/** The pod annotation that chooses the type of the proxy image, e.g. distroless. */
export const imageTypeAnnotation = 'sidecar.istio.io/proxyImageType';

/** `.ProxyImage`: hub, name and tag of the values; the type of image, e.g. distroless, of ProxyConfig or the pod's annotation. */
export function proxyImage(
  values: Values,
  proxyConfig: Message,
  annotations: Readonly<Record<string, string>>,
): string {
  return imageUrl(values, values.proxyImage, imageTypeOf(proxyConfig, annotations));
}

/** `.ProxyInitImage`: the same for the init container, whose type only the mesh decides; a name with a slash is a whole image already. */
export function proxyInitImage(values: Values, meshProxyConfig: Message): string {
  if (values.proxyInitImage.includes('/')) return values.proxyInitImage;
  return imageUrl(values, values.proxyInitImage, imageTypeOf(meshProxyConfig, {}));
}

function imageTypeOf(proxyConfig: Message, annotations: Readonly<Record<string, string>>): string {
  if (Object.hasOwn(annotations, imageTypeAnnotation)) return annotations[imageTypeAnnotation] ?? '';
  const image = proxyConfig.image;
  return isJsonObject(image) && typeof image.imageType === 'string' ? image.imageType : '';
}

/** The types that Istio publishes are a suffix of the tag; `default` is none. */
function imageUrl({ hub, tag }: Values, name: string, imageType: string): string {
  if (imageType === '') return `${hub}/${name}:${tag}`;
  const plain = tag.replace(/-(distroless|debug)$/, '');
  return `${hub}/${name}:${imageType === 'default' ? plain : `${plain}-${imageType}`}`;
}
