import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's root, wherever the command was called from. */
export const repository = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');

/** Everything the harness builds or runs lies here; git ignores it and `make clean` removes it. */
const build = join(repository, '.build');

/** The bundle of another version, for a negative control: `E2E_INJECTOR=/path/of/injector.cjs`. */
export const otherInjector = process.env['E2E_INJECTOR'];

export const paths = {
  binaries: join(build, 'bin'),
  controlPlane: join(build, 'bin', 'controlplane'),
  kubectl: join(build, 'bin', 'kubectl'),
  /** One directory for each earlier commit whose bundle a scenario runs. */
  earlier: join(build, 'earlier'),
  /** One directory for each control plane that a command of its own started. */
  runs: join(build, 'run'),
  /** The directory of the cluster that `make up` and `KEEP=1 make demo` leave running; STANDING names another, so that a test leaves the person's alone. */
  standing: join(build, process.env['STANDING'] ?? 'cluster'),
  controlPlaneSources: join(repository, 'e2e', 'controlplane'),
  /** Go modules of ours, one a folder, for programs that cannot be installed by name. */
  tools: join(repository, 'e2e', 'tools'),
  /** What `make release` writes. */
  release: join(repository, 'release'),
  chart: join(repository, 'charts', 'injector-operator'),
  crds: join(repository, 'crds'),
  examples: join(repository, 'examples'),
  injector: otherInjector ?? join(repository, 'dist', 'injector.cjs'),
} as const;
