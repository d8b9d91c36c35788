import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const needed = { major: 1, minor: 26 };

export interface GoToolchain {
  /** What `go version` printed, for example `go version go1.26.8 linux/amd64`. */
  version: string;
}

/**
 * Finds Go and checks that it can build the control plane.
 * An older Go is fine when it may fetch the toolchain that go.mod names (GOTOOLCHAIN, Go 1.21 and later).
 *
 * @throws Error with one line that says what to install.
 */
export async function goToolchain(): Promise<GoToolchain> {
  const wanted = `Go ${needed.major}.${needed.minor} or newer`;
  let version: string;
  try {
    version = (await run('go', ['version'])).stdout.trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error(
      `the embedded control plane and helm are built with ${wanted}, and there is no \`go\` on the PATH: install it from https://go.dev/dl/`,
      { cause: error },
    );
  }
  const [, major = '0', minor = '0'] = /go(\d+)\.(\d+)/.exec(version) ?? [];
  const recent = Number(major) > needed.major || (Number(major) === needed.major && Number(minor) >= needed.minor);
  const fetches =
    Number(major) === 1 && Number(minor) >= 21 && (await run('go', ['env', 'GOTOOLCHAIN'])).stdout.trim() !== 'local';
  if (!recent && !fetches)
    throw new Error(
      `the embedded control plane and helm are built with ${wanted}; this is ${version}: install a newer one from https://go.dev/dl/`,
    );
  return { version };
}
