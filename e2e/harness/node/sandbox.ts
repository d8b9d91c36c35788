/** The namespaces of a real node. The kernel ends everything in them with their first process. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ManagedProcess } from '../managed-process.ts';
import { cleanupFile, type RunDirectory } from '../run-directory.ts';
import { freePlans, type AddressPlan } from './address-plan.ts';

const run = promisify(execFile);

const cgroups = '/sys/fs/cgroup';

/**
 * Prepares the mounts of the node: its own /run, and its own folders in /var. It then waits for
 * processes whose parents have ended.
 *
 * The overlay lets folders be created without a trace on this machine. A kubelet sets parameters of
 * the kernel, which has only one value for all, so that it gets copies of their files.
 */
const firstProcess = `set -e
mount --make-rshared /
mount -t tmpfs tmpfs /run
mkdir /run/netns /run/node /run/var
mount --bind "$1" /run/node
mkdir /run/var/upper /run/var/work
mount -t overlay -o lowerdir=/var,upperdir=/run/var/upper,workdir=/run/var/work overlay /var
for folder in lib/kubelet lib/containerd log; do
  mkdir -p "/run/node/$folder" "/var/$folder"
  mount --bind "/run/node/$folder" "/var/$folder"
  # A peer group of its own, so that a pod's mounts do not appear in the run's folder too.
  mount --make-private "/var/$folder"
  mount --make-shared "/var/$folder"
done
for file in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
  copy=/run/var/$(basename "$file")
  cat "/proc/sys/$file" >"$copy"
  mount --bind "$copy" "/proc/sys/$file"
done
echo real-node >/proc/sys/kernel/hostname
echo 1 >/proc/sys/net/ipv4/ip_forward
ip link set lo up
: >/run/node/prepared
while :; do sleep 3600 & wait; done
`;

/** Creates the namespaces, cgroups and network of a node. `run` removes them, even if killed. */
export async function openSandbox(directory: RunDirectory) {
  const folder = join(directory.path, 'node');
  mkdirSync(folder);
  const unshared = ['--mount', '--net', '--uts', '--ipc', '--pid', '--propagation', 'private'];
  const first = new ManagedProcess({
    name: 'node',
    command: 'unshare',
    arguments: [...unshared, '--fork', '--kill-child', '--mount-proc', 'sh', '-c', firstProcess, 'node', folder],
    run: directory,
  });
  first.start();
  await first.waitUntilReady(() => Promise.resolve(existsSync(join(folder, 'prepared'))), 10_000);
  const { pid = 0 } = first;
  /** Returns the arguments of nsenter for a command in the node. */
  const inside = (command: readonly string[]): string[] => [
    ...['mnt:mount', 'net:net', 'uts:uts', 'ipc:ipc', 'pid_for_children:pid'].map((each) => {
      const [file, flag] = each.split(':');
      return `--${flag}=/proc/${pid}/ns/${file}`;
    }),
    '--',
    ...command,
  ];
  const execute = async (...command: string[]) => (await run('nsenter', inside(command))).stdout;
  const plan = await connect(pid);
  writeFileSync(join(directory.path, cleanupFile), cleanup(plan.cgroup));
  createCgroups(plan.cgroup);
  return {
    plan,
    folder,
    process: first,
    execute,
    /** Returns a program that runs in the node. */
    program: (name: string, command: string[]) =>
      new ManagedProcess({
        name,
        command: 'nsenter',
        arguments: inside(command),
        run: directory,
        environment: { GOGC: '400' },
      }),
    /** Ends all programs and containers of the node at once, as a power cut does. */
    crash: async () => {
      await execute('sh', '-c', 'kill -9 -1').catch(() => undefined);
    },
  };
}

export type Sandbox = Awaited<ReturnType<typeof openSandbox>>;

/** Creates the link between machine and node. It disappears with the node's network namespace. */
async function connect(pid: number): Promise<AddressPlan> {
  const inNode = (...command: string[]) => run('nsenter', [`--net=/proc/${pid}/ns/net`, 'ip', ...command]);
  for (const plan of freePlans()) {
    const { link, node, machine, block } = plan;
    const peer = ['peer', 'name', link, 'netns', String(process.pid)];
    const created = await inNode('link', 'add', 'node0', 'type', 'veth', ...peer).catch((error: unknown) => {
      // Another run has just claimed the block.
      if (String(error).includes('File exists')) return undefined;
      throw error;
    });
    if (created === undefined) continue;
    await run('ip', ['address', 'add', `${machine}/24`, 'dev', link]);
    await run('ip', ['link', 'set', link, 'up']);
    await inNode('address', 'add', `${node}/24`, 'dev', 'node0');
    await inNode('link', 'set', 'node0', 'up');
    await inNode('route', 'add', 'default', 'via', machine);
    await run('ip', ['route', 'add', block, 'via', node]);
    return plan;
  }
  throw new Error('a real node needs a free range 10.N.0.0/16 with N from 200 to 249, and this machine uses all');
}

/** Returns the cgroup hierarchies: one for each controller in version 1, one in version 2. */
function hierarchies(): string[] {
  if (existsSync(join(cgroups, 'cgroup.controllers'))) return [cgroups];
  return readdirSync(cgroups).map((name) => join(cgroups, name));
}

function createCgroups(name: string): void {
  for (const hierarchy of hierarchies()) {
    let parent = hierarchy;
    for (const group of [name, 'pods']) {
      const path = join(parent, group);
      // Version 2: a group gets the controllers that its parent passes on.
      if (hierarchy === cgroups) writeFileSync(join(parent, 'cgroup.subtree_control'), '+cpu +cpuset +memory +pids');
      mkdirSync(path, { recursive: true });
      // Version 1: a group without processors and memory nodes cannot run a process.
      for (const file of ['cpuset.cpus', 'cpuset.mems'])
        if (hierarchy !== cgroups && existsSync(join(path, file)))
          writeFileSync(join(path, file), readFileSync(join(parent, file)));
      parent = path;
    }
  }
}

/** Returns a shell script that removes the cgroups, as soon as their processes have ended. */
function cleanup(name: string): string {
  return `for attempt in $(seq 100); do
  left=
  for group in ${hierarchies()
    .map((each) => `'${each}/${name}'`)
    .join(' ')}; do
    [ -d "$group" ] || continue
    find "$group" -depth -type d -exec rmdir {} + 2>/dev/null
    [ -d "$group" ] && left=yes
  done
  [ -z "$left" ] && exit 0
  sleep 0.1
done
`;
}

/** Returns what remains of nodes on this machine, for scenarios that check the cleanup. */
export function remainders({ link, cgroup, block }: AddressPlan): string[] {
  const list = (...command: string[]) => execFileSync('ip', command, { encoding: 'utf8' });
  const [start = ''] = block.split('.0.0/');
  return [
    ...[list('link'), list('route')].filter((text) => text.includes(link) || text.includes(`${start}.`)),
    ...hierarchies().filter((each) => existsSync(join(each, cgroup))),
  ];
}
