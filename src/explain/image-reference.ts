/**
 * Reports whether two references name the same image: an image without a registry is one of
 * `docker.io`, there without a folder one of `library`, and without a tag or digest `latest`
 * (github.com/distribution/reference, ParseNormalizedNamed and TagNameOnly).
 */
export function sameImage(one: string, other: string): boolean {
  return normalized(one) === normalized(other);
}

function normalized(reference: string): string {
  const [head = ''] = reference.split('/', 1);
  const hasRegistry =
    reference.includes('/') && (/[.:]/.test(head) || head === 'localhost' || head !== head.toLowerCase());
  const registry = !hasRegistry ? 'docker.io' : head === 'index.docker.io' ? 'docker.io' : head;
  const rest = hasRegistry ? reference.slice(head.length + 1) : reference;
  const path = registry === 'docker.io' && !rest.includes('/') ? `library/${rest}` : rest;
  const isVersioned = /[:@]/.test(path);
  return `${registry}/${path}${isVersioned ? '' : ':latest'}`;
}
