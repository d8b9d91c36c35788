import type { Container, Handler } from '../pod/pod.ts';
import { proberPaths } from './prober-paths.ts';

/** What is done to a probe or hook: `path` is the one under which the agent answers for it. */
export type HandlerChange = (handler: Handler, path: string, kind: 'probe' | 'hook') => Handler;

/** A container with its probes and lifecycle hooks changed; the container itself when nothing changes. */
export function mapHandlers(container: Container, change: HandlerChange): Container {
  const { readinessProbe, livenessProbe, startupProbe, lifecycle } = container;
  if (
    readinessProbe === undefined &&
    livenessProbe === undefined &&
    startupProbe === undefined &&
    lifecycle === undefined
  )
    return container;
  const paths = proberPaths(container.name);
  const changed: Container = {
    ...container,
    ...(readinessProbe && { readinessProbe: change(readinessProbe, paths.readiness, 'probe') }),
    ...(livenessProbe && { livenessProbe: change(livenessProbe, paths.liveness, 'probe') }),
    ...(startupProbe && { startupProbe: change(startupProbe, paths.startup, 'probe') }),
  };
  const { preStop, postStart } = lifecycle ?? {};
  const hooks = {
    ...(preStop && { preStop: change(preStop, paths.preStop, 'hook') }),
    ...(postStart && { postStart: change(postStart, paths.postStart, 'hook') }),
  };
  const same = Object.keys(changed).every((name) => changed[name] === container[name]);
  const sameHooks = hooks.preStop === preStop && hooks.postStart === postStart;
  if (sameHooks) return same ? container : changed;
  return { ...changed, lifecycle: { ...lifecycle, ...hooks } };
}
