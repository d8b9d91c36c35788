import { Buffer } from 'node:buffer';
import { trimSpace } from '../../template/functions/sprig/text/strings.ts';
import { isIP } from 'node:net';
import { readDigits } from '../../template/integer.ts';
import { QuantityError, canonicalQuantity } from '../kubernetes/quantity.ts';

/** Returns Istio's message for an invalid value; `undefined` for a valid value. */
export type ValueCheck = (value: string) => string | undefined;

/** Parses a text like Go's strconv.ParseBool; `undefined` if it is neither true nor false. */
export function parseBool(text: string): boolean | undefined {
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(text)) return false;
  return undefined;
}

export const booleanProblem: ValueCheck = (value) =>
  parseBool(value) === undefined ? `strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax` : undefined;

/** Accepts an unsigned 32-bit integer. */
export const unsignedProblem: ValueCheck = (value) => parseUnsignedProblem(value, 2n ** 32n);

export const interceptionModeProblem: ValueCheck = (value) =>
  ['REDIRECT', 'TPROXY', 'NONE'].includes(value)
    ? undefined
    : `interceptionMode invalid, use REDIRECT,TPROXY,NONE: ${value}`;

/** Accepts a Kubernetes quantity on one line: templates paste it into YAML. */
export const quantityProblem: ValueCheck = (value) => {
  if (/\p{Cc}/u.test(value)) return 'value contains control characters';
  if (/\s/.test(value)) return quantityProblem('');
  try {
    canonicalQuantity(value);
    return undefined;
  } catch (error) {
    if (error instanceof QuantityError) return error.message;
    throw error;
  }
};

/** Accepts one port, with or without surrounding spaces. */
export const portAnnotationProblem: ValueCheck = (value) => {
  const problem = onePortProblem(value);
  return problem === undefined ? undefined : `excludeInboundPorts invalid: ${problem}`;
};

/** Accepts an empty text or a list of ports; with `wildcard`, also `*`. Errors contain `name`. */
export function portsProblem(name: string, wildcard: boolean): ValueCheck {
  return (value) => {
    const ports = trimSpace(value);
    if (ports === '' || (wildcard && value === '*')) return undefined;
    for (const part of ports.split(',')) {
      const port = trimSpace(part);
      const problem = onePortProblem(port);
      if (problem !== undefined) return `${name} invalid: failed parsing port '${port}': ${problem}`;
    }
    return undefined;
  };
}

function onePortProblem(value: string): string | undefined {
  const problem = parseUnsignedProblem(trimSpace(value), 2n ** 16n);
  return problem === undefined ? undefined : `failed parsing port '${value}': ${problem}`;
}

/** Accepts an empty text or a list of CIDR blocks; with `wildcard`, also `*`. */
export function blocksProblem(name: string, wildcard: boolean): ValueCheck {
  return (value) => {
    if (value === '' || (wildcard && value === '*')) return undefined;
    for (const block of value.split(',')) {
      const problem = prefixProblem(block);
      if (problem !== undefined) {
        return `${name} invalid: failed parsing cidr '${block}': netip.ParsePrefix(${JSON.stringify(block)}): ${problem}`;
      }
    }
    return undefined;
  };
}

/** Returns the error of Go's netip.ParsePrefix. */
function prefixProblem(block: string): string | undefined {
  const slash = block.lastIndexOf('/');
  if (slash < 0) return "no '/'";
  const address = block.slice(0, slash);
  const bits = block.slice(slash + 1);
  const zone = address.includes('%');
  const version = isIP(zone ? address.slice(0, address.indexOf('%')) : address);
  if (version === 0) return addressProblem(address);
  if (zone) return 'IPv6 zones cannot be present in a prefix';
  if (!/^(0|[1-9]\d*)$/.test(bits)) return `bad bits after slash: ${JSON.stringify(bits)}`;
  return Number(bits) > (version === 4 ? 32 : 128) ? 'prefix length out of range' : undefined;
}

function addressProblem(address: string): string {
  const quoted = JSON.stringify(address);
  if (address.split('.').some((octet) => /^0\d/.test(octet)))
    return `ParseAddr(${quoted}): IPv4 field has octet with leading zero`;
  const unexpected = /[^0-9.]/.exec(address);
  if (address.includes('.') && unexpected !== null) {
    return `ParseAddr(${quoted}): unexpected character (at ${JSON.stringify(address.slice(unexpected.index))})`;
  }
  return `ParseAddr(${quoted}): unable to parse IP`;
}

/** Accepts an empty text or comma-separated interface names (Istio's ValidateInterfaceNames). */
export const interfacesProblem: ValueCheck = (value) => {
  if (value === '') return undefined;
  for (const part of value.split(',')) {
    const name = trimSpace(part);
    if (name === '') return 'empty interface name';
    // The kernel's limit, counted in bytes.
    if (Buffer.byteLength(name) > 15) return `interface name ${JSON.stringify(name)} too long (max 15 chars)`;
    if (!/^[a-zA-Z][a-zA-Z0-9_.-]*$/.test(name)) {
      return `interface name ${JSON.stringify(name)} contains invalid characters`;
    }
  }
  return undefined;
};

/** Returns the error of Go's strconv.ParseUint in base 10, which accepts only digits. */
function parseUnsignedProblem(text: string, limit: bigint): string | undefined {
  const parsing = `strconv.ParseUint: parsing ${JSON.stringify(text)}`;
  if (!/^\d+$/.test(text)) return `${parsing}: invalid syntax`;
  return readDigits(text) < limit ? undefined : `${parsing}: value out of range`;
}
