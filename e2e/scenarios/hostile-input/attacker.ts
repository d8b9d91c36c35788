import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { AttackOrders, AttackReport } from './attack.ts';

export interface AttackerOrders extends AttackOrders {
  /** Connections that send a body byte by byte, all the time. */
  readonly slowConnections: number;
  readonly silent: SilentOrders;
}

/** Connections that say nothing at all. */
export interface SilentOrders {
  /** Milliseconds after the start. */
  readonly after: number;
  /** If the server does not have to make room for them before. */
  readonly most: number;
}

export interface AttackerReport extends AttackReport {
  /** How often a body of 19 MiB met each status, or each code of a broken connection. */
  readonly largeOutcomes: Readonly<Record<string, number>>;
  readonly slowConnectionsAtEnd: number;
  readonly silentConnections: number;
}

/** Runs the attack in a process of its own, until it has come to its end. */
export async function runAttacker(orders: AttackerOrders): Promise<AttackerReport> {
  const program = fileURLToPath(new URL('attacker-process.ts', import.meta.url));
  const child = fork(program);
  try {
    child.send(orders);
    return await new Promise<AttackerReport>((resolve, reject) => {
      child.once('message', resolve);
      child.once('exit', (code) => {
        reject(new Error(`the attacker ended by itself, with ${code ?? 'a signal'}`));
      });
    });
  } finally {
    child.kill();
  }
}
