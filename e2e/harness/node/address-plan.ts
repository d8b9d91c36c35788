import { execFileSync } from 'node:child_process';

/** A run's own block 10.N.0.0/16: the link between machine and node, Services, and pods. */
function addressPlan(block: number) {
  return {
    block: `10.${block}.0.0/16`,
    machine: `10.${block}.0.254`,
    node: `10.${block}.0.1`,
    services: `10.${block}.16.0/20`,
    /** The Service `kubernetes`. */
    apiService: `10.${block}.16.1`,
    pods: `10.${block}.128.0/24`,
    /** The machine's end of the link. Only one run can create it, so it claims the block. */
    link: `injnode${block}`,
    cgroup: `injector-node-${block}`,
  };
}

export type AddressPlan = ReturnType<typeof addressPlan>;

const blocks = Array.from({ length: 50 }, (_, index) => 200 + index);

/** Returns the blocks that overlap no address and no route of this machine. */
export function freePlans(): AddressPlan[] {
  const list = (what: string[]) => execFileSync('ip', ['-4', ...what], { encoding: 'utf8' });
  const used = `${list(['-oneline', 'address'])}\n${list(['route', 'show', 'table', 'all'])}`;
  return blocks.filter((block) => isFree(block, used)).map(addressPlan);
}

/** @param used text with all addresses (`10.1.2.3`) and ranges (`10.0.0.0/8`) in use */
function isFree(block: number, used: string): boolean {
  const first = (10 << 24) | (block << 16);
  return [...used.matchAll(/\b(\d+)\.(\d+)\.(\d+)\.(\d+)(?:\/(\d+))?/g)].every((match) => {
    const [a = 0, b = 0, c = 0, d = 0] = match.slice(1, 5).map(Number);
    const address = (a << 24) | (b << 16) | (c << 8) | d;
    // Two ranges overlap if they agree in the bits of the larger one. A default route has no bits.
    const bits = Math.min(Number(match[5] ?? 32), 16);
    return bits === 0 || (address ^ first) >>> (32 - bits) !== 0;
  });
}
