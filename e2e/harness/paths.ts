import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's root, independent of the working directory. */
export const repository = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');

/** The folder for programs and runs. Git ignores it, and `make clean` removes it. */
const build = join(repository, '.build');

/** The bundle of another version, for a negative control: `E2E_INJECTOR=/path/of/injector.cjs`. */
export const otherInjector = process.env['E2E_INJECTOR'];

export const paths = {
  binaries: join(build, 'bin'),
  controlPlane: join(build, 'bin', 'controlplane'),
  kubectl: join(build, 'bin', 'kubectl'),
  /** The folder for bundles of possible later versions. */
  later: join(build, 'later'),
  /** The folder with one directory per control plane. */
  runs: join(build, 'run'),
  /** The cluster of `make up` and `KEEP=1 make demo`. */
  standing: join(build, 'cluster'),
  controlPlaneSources: join(repository, 'e2e', 'controlplane'),
  /** Our Go modules, one per folder, for programs that `go install` cannot install by name. */
  tools: join(repository, 'e2e', 'tools'),
  /** The output of `make release`. */
  release: join(repository, 'release'),
  chart: join(repository, 'charts', 'injector-operator'),
  crds: join(repository, 'crds'),
  examples: join(repository, 'examples'),
  injector: otherInjector ?? join(repository, 'dist', 'injector.cjs'),
} as const;
