import type { Container } from '../pod.ts';
import { agentImage } from './images.ts';

/** The flags of the agent (e2e/tools/agent), which `--flag=value` passes. */
interface AgentFlags {
  /** `POD/CONTAINER` in events. */
  name: string;
  recorder: string;
  port?: number;
  status?: number;
  get?: string;
  memory?: number;
  exit?: number;
}

/** What Pod Security `restricted` requires of a container. */
const restricted = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  runAsUser: 1000,
  seccompProfile: { type: 'RuntimeDefault' },
};

/** Builds a container that runs the agent, as Pod Security `restricted` allows. */
export function agent(flags: AgentFlags, more: Record<string, unknown> = {}): Container {
  return {
    name: flags.name.split('/').at(-1) ?? '',
    image: agentImage,
    args: Object.entries(flags).map(([flag, value]) => `--${flag}=${String(value)}`),
    securityContext: restricted,
    ...more,
  };
}

/** Returns a probe or hook that calls the agent. */
export function call(port: number, path: string, more: Record<string, unknown> = {}) {
  return { httpGet: { port, path }, ...more };
}
