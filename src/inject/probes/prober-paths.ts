/** Where the proxy's agent answers for the probes and lifecycle hooks of a container. */
export interface ProberPaths {
  readonly readiness: string;
  readonly liveness: string;
  readonly startup: string;
  readonly preStop: string;
  readonly postStart: string;
}

/** The agent's paths for a container of that name. */
export function proberPaths(container: string): ProberPaths {
  return {
    readiness: `/app-health/${container}/readyz`,
    liveness: `/app-health/${container}/livez`,
    startup: `/app-health/${container}/startupz`,
    preStop: `/app-lifecycle/${container}/prestopz`,
    postStart: `/app-lifecycle/${container}/poststartz`,
  };
}
