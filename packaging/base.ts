/**
 * Assembles a base image from npm's Node and Debian's libraries, for machines that cannot pull one.
 * The base contains no files of this machine. The machine's apt and dpkg state stays unchanged.
 */
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export type Architecture = 'amd64' | 'arm64';
export const architectures: readonly Architecture[] = ['amd64', 'arm64'];

/** The Node version of the image: the current LTS. */
export const shippedNode = JSON.parse(readFileSync(path.join(import.meta.dirname, 'node-version.json'), 'utf8')) as {
  version: string;
  integrity: Record<'x64' | 'arm64', string>;
};

/** The libraries that Node needs, from `readelf --dynamic`. apt adds their dependencies. */
const libraries = ['libc6', 'libstdc++6', 'libgcc-s1', 'libatomic1'];
/** The age at which the cached libraries are fetched again for Debian's fixes, in days. */
const keptDays = 3;

export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly source: string;
  /** The SHA-256 of the package's archive, in hexadecimal. */
  readonly digest: string;
  /** The paths in the archive, folders included, without the leading slash. */
  readonly files: readonly string[];
}

/** Returns the reason why this machine cannot assemble a base; undefined if it can. */
export function assemblyLacks(): string | undefined {
  const missing = ['apt-get', 'dpkg-deb', 'tar', 'npm'].filter((program) => onPath(program) === undefined);
  if (missing.length === 0 && release('ID') === 'debian') return undefined;
  return `assembling a base needs Debian with apt-get, dpkg-deb, tar and npm`;
}

/** Returns a field of /etc/os-release. */
function release(name: string): string {
  const text = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  return new RegExp(`^${name}="?([\\w.-]+)`, 'm').exec(text)?.[1] ?? 'unknown';
}

/** Returns the path of a program on the PATH. */
export function onPath(program: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  return folders.map((folder) => path.join(folder, program)).find((file) => existsSync(file));
}

/**
 * Assembles a base in the user's cache folder, or reuses the cached base.
 *
 * @returns the folders that together form its root file system, and the packages in them
 */
export async function assembleBase(architecture: Architecture, report: (line: string) => void) {
  const node = await fetchNode(architecture === 'amd64' ? 'x64' : 'arm64', report);
  const program = createHash('sha256')
    .update(readFileSync(import.meta.filename))
    .digest('hex')
    .slice(0, 16);
  const distribution = `debian-${release('VERSION_ID')}`;
  const debian = await cached(`base-${distribution}-${architecture}-${program}`, keptDays, async (folder) => {
    report(`fetching ${libraries.join(', ')} of ${distribution} for ${architecture} …`);
    await fetchLibraries(folder, architecture);
  });
  const packages = JSON.parse(readFileSync(path.join(debian, 'packages.json'), 'utf8')) as DebianPackage[];
  return { folders: [node.folder, path.join(debian, 'root')], nodeDigest: node.digest, packages, distribution };
}

/**
 * Fetches the Node version of the image.
 *
 * @returns a folder with usr/local/bin/node and its licence; the archive's SHA-512, in hexadecimal
 * @throws Error if the digest of the registry's archive differs from node-version.json
 */
export async function fetchNode(architecture: 'x64' | 'arm64', report: (line: string) => void) {
  const { version, integrity } = shippedNode;
  const digest = Buffer.from(integrity[architecture].replace('sha512-', ''), 'base64').toString('hex');
  const folder = await cached(`node-${version}-${architecture}-${digest.slice(0, 16)}`, 30, async (building) => {
    const name = `node-linux-${architecture}@${version}`;
    report(`fetching ${name} …`);
    await run('npm', ['pack', '--silent', '--pack-destination', building, name]);
    const archive = path.join(building, readdirSync(building)[0] ?? 'nothing');
    const found = createHash('sha512').update(readFileSync(archive)).digest('hex');
    if (found !== digest) throw new Error(`${name} has SHA-512 ${found}, but node-version.json has ${digest}`);
    const names = ['s,^package/bin,usr/local/bin,', 's,^package,usr/share/doc/node,'].map(
      (each) => `--transform=${each}`,
    );
    await run('tar', ['-xzf', archive, '-C', building, ...names, 'package/bin/node', 'package/LICENSE']);
    rmSync(archive);
  });
  return { folder, digest };
}

/** Returns a folder of the user's cache. Fills a folder that is missing or older than `days`. */
export async function cached(name: string, days: number, fill: (folder: string) => Promise<void>): Promise<string> {
  const { XDG_CACHE_HOME: named = '' } = process.env;
  const cache = path.join(named === '' ? path.join(homedir(), '.cache') : named, 'sidecar-injector');
  const kept = path.join(cache, name);
  const isYoung = () => existsSync(kept) && Date.now() - statSync(kept).mtimeMs < days * 86_400_000;
  if (isYoung()) return kept;
  mkdirSync(cache, { recursive: true });
  const building = mkdtempSync(path.join(cache, 'building-'));
  try {
    await fill(building);
    chmodSync(building, 0o755);
    // In the meantime, a run in another clone may have filled the cache.
    if (!isYoung()) {
      rmSync(kept, { recursive: true, force: true });
      renameSync(building, kept);
    }
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
  return kept;
}

/** Fetches and unpacks Debian packages. Separate apt state avoids root and `--add-architecture`. */
async function fetchLibraries(folder: string, architecture: Architecture): Promise<void> {
  const [root, state] = [path.join(folder, 'root'), path.join(folder, 'apt')];
  for (const each of [root, path.join(state, 'lists/partial'), path.join(state, 'archives/partial')])
    mkdirSync(each, { recursive: true });
  writeFileSync(path.join(state, 'status'), '');
  const settings = {
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Sandbox::User': '',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '3',
    'Debug::NoLocking': '1',
    'Dir::State::Lists': path.join(state, 'lists'),
    'Dir::State::status': path.join(state, 'status'),
    'Dir::Cache': state,
    'Dir::Cache::archives': path.join(state, 'archives'),
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  const apt = (...args: string[]) =>
    run('apt-get', [...options, '-q', '-y', ...args], { cwd: path.join(state, 'archives') });
  await apt('update');
  await apt('install', '--download-only', '--no-install-recommends', ...libraries);
  // Has licence texts, and the /etc/os-release that scanners read. `install` would add an awk.
  await apt('download', 'base-files');
  const archives = readdirSync(path.join(state, 'archives')).filter((name) => name.endsWith('.deb'));
  const packages = archives.sort().map((name) => unpackDebianPackage(path.join(state, 'archives', name), root));
  writeFileSync(path.join(folder, 'packages.json'), JSON.stringify(packages));
  rmSync(state, { recursive: true });
}

/** Unpacks a package, and records it in status.d, where scanners look in images without dpkg. */
function unpackDebianPackage(archive: string, root: string): DebianPackage {
  const options = { maxBuffer: 1 << 28 };
  const query = (flag: string, ...more: string[]) => execFileSync('dpkg-deb', [flag, archive, ...more], options);
  const field = (name: string) => query('--field', name).toString().trim();
  const name = field('Package');
  const status = path.join(root, 'var/lib/dpkg/status.d');
  query('--extract', root);
  mkdirSync(status, { recursive: true });
  writeFileSync(path.join(status, name), query('--field'));
  writeFileSync(path.join(status, `${name}.md5sums`), query('--info', 'md5sums'));
  const list = execFileSync('tar', ['-t'], { ...options, input: query('--fsys-tarfile') }).toString();
  const files = list
    .trim()
    .split('\n')
    .map((file) => file.replace(/^\.\//, ''));
  const [source = ''] = (field('Source') || name).split(' ');
  const digest = createHash('sha256').update(readFileSync(archive)).digest('hex');
  return { name, version: field('Version'), source: source.replace(/-\d+$/, ''), digest, files };
}
