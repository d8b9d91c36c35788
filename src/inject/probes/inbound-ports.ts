import { annotationOf, type Pod } from '../pod/pod.ts';

/** Whether traffic to a port goes through the proxy; a probe of another port reaches the application by itself. */
export type InboundPorts = (port: number) => boolean;

/** The ports that the annotations on inbound traffic include or exclude: all of them without annotations. */
export function inboundPorts(pod: Pod): InboundPorts {
  const included = annotationOf(pod, 'traffic.sidecar.istio.io/includeInboundPorts') ?? '';
  if (included !== '' && included !== '*') {
    const ports = parsePorts(included);
    return ports.size === 0 ? () => true : (port) => ports.has(port);
  }
  const excluded = parsePorts(annotationOf(pod, 'traffic.sidecar.istio.io/excludeInboundPorts') ?? '');
  return (port) => !excluded.has(port);
}

function parsePorts(text: string): ReadonlySet<number> {
  const ports = text.split(',').map((part) => Number(part.trim()));
  return new Set(ports.filter((port) => Number.isInteger(port) && port !== 0));
}
