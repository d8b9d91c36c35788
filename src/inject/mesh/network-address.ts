import { isIP } from 'node:net';

const dns1123Label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/i;

/** Why a text is no `host:port`, in the words of Istio's ValidateProxyAddress; `undefined` when it is one. */
export function proxyAddressProblem(address: string): string | undefined {
  const split = splitHostPort(address);
  const named = address === '' ? '' : `address ${address}: `;
  if ('problem' in split) return `unable to split ${JSON.stringify(address)}: ${named}${split.problem}`;
  if (!/^[+-]?\d+$/.test(split.port)) {
    return `port (${split.port}) is not a number: strconv.Atoi: parsing ${JSON.stringify(split.port)}: invalid syntax`;
  }
  const problem = portProblem(Number(split.port));
  if (problem !== undefined) return problem;
  if (isHostname(split.host) || isIP(split.host) !== 0) return undefined;
  return `${JSON.stringify(split.host)} is not a valid hostname or an IP address`;
}

/** Why a number is no port; `undefined` when it is one. */
export function portProblem(port: number): string | undefined {
  return port >= 1 && port <= 65535 ? undefined : `port number ${port} must be in the range 1..65535`;
}

/** Go's net.SplitHostPort. */
function splitHostPort(address: string): { host: string; port: string } | { problem: string } {
  const colon = address.lastIndexOf(':');
  if (colon < 0) return { problem: 'missing port in address' };
  const port = address.slice(colon + 1);
  if (!address.startsWith('[')) {
    const host = address.slice(0, colon);
    if (host.includes(':')) return { problem: 'too many colons in address' };
    if (/[[\]]/.test(address)) return { problem: `unexpected '${/[[\]]/.exec(address)?.[0] ?? ''}' in address` };
    return { host, port };
  }
  const end = address.indexOf(']');
  if (end < 0) return { problem: "missing ']' in address" };
  if (end + 1 === address.length) return { problem: 'missing port in address' };
  if (end + 1 !== colon)
    return { problem: address[end + 1] === ':' ? 'too many colons in address' : 'missing port in address' };
  return { host: address.slice(1, end), port };
}

/** A fully qualified name whose last part is not a number; a trailing dot is fine. */
function isHostname(host: string): boolean {
  if (host === '' || host.length > 255) return false;
  const labels = host.split('.');
  const last = labels.at(-1) ?? '';
  if (/^[+-]?\d+$/.test(last)) return false;
  return labels.every(
    (label, index) => (label === '' && index === labels.length - 1) || (label.length <= 63 && dns1123Label.test(label)),
  );
}
