import { existsSync } from 'node:fs';
import { imageLacks } from '../../../packaging/image.ts';
import { onPath } from '../../../packaging/base.ts';

/** The programs that a real node needs, with Debian's package of each. */
const programs = {
  containerd: 'containerd',
  ctr: 'containerd',
  runc: 'runc',
  nft: 'nftables',
  ip: 'iproute2',
  nsenter: 'util-linux',
  buildah: 'buildah',
};

/** Where Debian and most other distributions install CNI plugins. */
const pluginFolders = ['/usr/lib/cni', '/opt/cni/bin'];

/** Returns the folder with the CNI plugins that a node needs. */
export function pluginFolder(): string | undefined {
  const needed = ['ptp', 'host-local', 'loopback'];
  return pluginFolders.find((folder) => needed.every((name) => existsSync(`${folder}/${name}`)));
}

/** Returns what this machine lacks for a real node, and how to install it; undefined if nothing. */
export function nodeLacks(): string | undefined {
  if (process.platform !== 'linux') return 'a real node needs Linux';
  if (process.getuid?.() !== 0) return 'a real node needs root';
  const missing = Object.entries(programs).filter(([program]) => onPath(program) === undefined);
  const packages = missing.map(([, name]) => name);
  if (pluginFolder() === undefined) packages.push('containernetworking-plugins');
  if (packages.length === 0) return imageLacks();
  const named = [...new Set(packages)].join(' ');
  return `a real node needs ${named}: apt-get install --no-install-recommends ${named}`;
}
