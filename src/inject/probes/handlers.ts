import type { Container, Handler } from '../pod/pod.ts';

/** A probe or hook of a container. */
export interface ContainerHandler {
  readonly field: 'readinessProbe' | 'livenessProbe' | 'startupProbe' | 'preStop' | 'postStart';
  readonly kind: 'probe' | 'hook';
  /** Where the proxy's agent answers for it. */
  readonly path: string;
  readonly handler: Handler;
}

const places = [
  ['readinessProbe', 'probe', 'app-health', 'readyz'],
  ['livenessProbe', 'probe', 'app-health', 'livez'],
  ['startupProbe', 'probe', 'app-health', 'startupz'],
  ['preStop', 'hook', 'app-lifecycle', 'prestopz'],
  ['postStart', 'hook', 'app-lifecycle', 'poststartz'],
] as const;

/** The probes and lifecycle hooks that a container has. */
export function handlersOf(container: Container): ContainerHandler[] {
  const { readinessProbe, livenessProbe, startupProbe, lifecycle } = container;
  const present = { readinessProbe, livenessProbe, startupProbe, ...lifecycle };
  return places.flatMap(([field, kind, root, name]) => {
    const handler = present[field];
    return handler === undefined ? [] : [{ field, kind, path: `/${root}/${container.name}/${name}`, handler }];
  });
}

/** A container with its probes and lifecycle hooks changed; the container itself when nothing changes. */
export function mapHandlers(container: Container, change: (place: ContainerHandler) => Handler): Container {
  let { lifecycle } = container;
  const probes: Record<string, Handler> = {};
  for (const place of handlersOf(container)) {
    const changed = change(place);
    if (changed === place.handler) continue;
    if (place.kind === 'probe') probes[place.field] = changed;
    else lifecycle = { ...lifecycle, [place.field]: changed };
  }
  if (lifecycle !== container.lifecycle) return { ...container, ...probes, ...(lifecycle && { lifecycle }) };
  return Object.keys(probes).length === 0 ? container : { ...container, ...probes };
}
