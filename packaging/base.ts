/**
 * A base for the image where none can be pulled: Node from the npm packages of its releases, and the libraries that it needs from Debian.
 * Nothing of this machine goes into it, and its apt and dpkg learn nothing of it.
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

/** The Node that the image ships: the current LTS. */
export const shippedNode = JSON.parse(readFileSync(path.join(import.meta.dirname, 'node-version.json'), 'utf8')) as {
  version: string;
  integrity: Record<'x64' | 'arm64', string>;
};

/** What `readelf --dynamic` says that Node needs. apt adds what these need. */
const libraries = ['libc6', 'libstdc++6', 'libgcc-s1', 'libatomic1'];
/** Debian's fixes reach a base that is assembled after so many days. */
const keptDays = 3;

export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly source: string;
  /** SHA-256 of its archive. */
  readonly digest: string;
  /** What lies in its archive, folders included, without the leading slash. */
  readonly files: readonly string[];
}

/** Why no base can be assembled on this machine; undefined where one can. */
export function assemblyLacks(): string | undefined {
  const missing = ['apt-get', 'dpkg-deb', 'tar', 'npm'].filter((program) => onPath(program) === undefined);
  if (missing.length === 0 && release('ID') === 'debian') return undefined;
  return `a base is assembled on Debian, and with apt-get, dpkg-deb, tar and npm`;
}

/** What the distribution of this machine says of itself. */
function release(name: string): string {
  const text = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  return new RegExp(`^${name}="?([\\w.-]+)`, 'm').exec(text)?.[1] ?? 'unknown';
}

/** Where a program lies. */
export function onPath(program: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  return folders.map((folder) => path.join(folder, program)).find((file) => existsSync(file));
}

/**
 * Assembles a base in the user's cache folder, or finds it there.
 *
 * @returns the folders that together are its root file system, and what is in them
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
 * Fetches the Node that the image ships.
 *
 * @returns a folder with usr/local/bin/node and its licence; the archive's SHA-512, in hexadecimal
 * @throws Error when the registry's archive is not the one that node-version.json names
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
    if (found !== digest) throw new Error(`${name} has SHA-512 ${found}, packaging/node-version.json wants ${digest}`);
    const names = ['s,^package/bin,usr/local/bin,', 's,^package,usr/share/doc/node,'].map(
      (each) => `--transform=${each}`,
    );
    await run('tar', ['-xzf', archive, '-C', building, ...names, 'package/bin/node', 'package/LICENSE']);
    rmSync(archive);
  });
  return { folder, digest };
}

/** A folder of the user's cache that is filled when it is missing or too old. */
async function cached(name: string, days: number, fill: (folder: string) => Promise<void>): Promise<string> {
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
    // Another clone may have been faster.
    if (!isYoung()) {
      rmSync(kept, { recursive: true, force: true });
      renameSync(building, kept);
    }
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
  return kept;
}

/** Fetches Debian packages with lists and a state of their own, so that neither root nor `dpkg --add-architecture` is needed, and unpacks them. */
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
  // For the texts of the licences, and for /etc/os-release, by which scanners know what this is. It would bring an awk.
  await apt('download', 'base-files');
  const archives = readdirSync(path.join(state, 'archives')).filter((name) => name.endsWith('.deb'));
  const packages = archives.sort().map((name) => unpackDebianPackage(path.join(state, 'archives', name), root));
  writeFileSync(path.join(folder, 'packages.json'), JSON.stringify(packages));
  rmSync(state, { recursive: true });
}

/** Unpacks a package, and notes it where scanners look for packages of images that have no dpkg. */
function unpackDebianPackage(archive: string, root: string): DebianPackage {
  const options = { maxBuffer: 1 << 28 };
  const ask = (question: string, ...more: string[]) => execFileSync('dpkg-deb', [question, archive, ...more], options);
  const field = (name: string) => ask('--field', name).toString().trim();
  const name = field('Package');
  const status = path.join(root, 'var/lib/dpkg/status.d');
  ask('--extract', root);
  mkdirSync(status, { recursive: true });
  writeFileSync(path.join(status, name), ask('--field'));
  writeFileSync(path.join(status, `${name}.md5sums`), ask('--info', 'md5sums'));
  const list = execFileSync('tar', ['-t'], { ...options, input: ask('--fsys-tarfile') }).toString();
  const files = list
    .trim()
    .split('\n')
    .map((file) => file.replace(/^\.\//, ''));
  const [source = ''] = (field('Source') || name).split(' ');
  const digest = createHash('sha256').update(readFileSync(archive)).digest('hex');
  return { name, version: field('Version'), source: source.replace(/-\d+$/, ''), digest, files };
}
