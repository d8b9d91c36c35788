import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Random } from '../../../scripts/template-recorder/random.ts';
import { HostileClient } from './client.ts';
import type { HostileClass, HostileTarget, Outcome } from './materials.ts';

export interface AttackOrders {
  readonly port: number;
  readonly target: HostileTarget;
  readonly seed: number;
  readonly requestsPerClass: number;
  readonly clients: number;
}

export interface ClassTally {
  readonly name: string;
  readonly sent: number;
  readonly distinct: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly unexpected: number;
  /** The first of these: which request it was, what came of it and how the request began. */
  readonly example: string | undefined;
}

export interface AttackReport {
  readonly classes: readonly ClassTally[];
  readonly seconds: number;
  readonly bytes: number;
  readonly connections: number;
  /** Of these, handshakes that were broken off; and requests that were sent again because their new connection was closed while the server had to make room. */
  readonly brokenOff: number;
  readonly sentAgain: number;
}

/**
 * Sends so many requests of each class, in a random order that is the same for the same seed.
 *
 * @param underPressure whether there are more connections now than the server keeps
 */
export async function attack(classes: readonly HostileClass[], orders: AttackOrders, underPressure: () => boolean) {
  const { target, seed, requestsPerClass } = orders;
  const seen = new Set<number>();
  const tallies = classes.map((each) => new Tally(each));
  const order = shuffledRounds(tallies, requestsPerClass, new Random(seed));
  const started = performance.now();
  let [bytes, sentAgain] = [0, 0];
  const work = async (): Promise<HostileClient> => {
    const client = new HostileClient(orders.port, target.host);
    for (const { tally, round } of order) {
      const { name, make } = tally.hostile;
      const request = make(new Random(seedOf(seed, name, round)), target);
      bytes += request.bytes.length;
      const isNew = seen.size < seen.add(fingerprint(request.bytes)).size;
      const send = (): Promise<Outcome> => client.send(request).catch((error: unknown) => `failed: ${String(error)}`);
      const before = client.opened;
      let outcome = await send();
      if (outcome === 'closed' && !tally.expects(outcome) && client.opened > before && underPressure()) {
        sentAgain++;
        outcome = await send();
      }
      tally.note(outcome, isNew, round, request.bytes);
    }
    client.close();
    return client;
  };
  const workers = await Promise.all(Array.from({ length: orders.clients }, work));
  return {
    classes: tallies.map((tally) => tally.report()),
    seconds: (performance.now() - started) / 1000,
    bytes,
    connections: workers.reduce((sum, { opened }) => sum + opened, 0),
    brokenOff: workers.reduce((sum, { brokenOff }) => sum + brokenOff, 0),
    sentAgain,
  };
}

class Tally {
  readonly hostile: HostileClass;
  readonly #expected: ReadonlySet<string>;
  readonly #outcomes: Record<string, number> = {};
  #sent = 0;
  #distinct = 0;
  #unexpected = 0;
  #example: string | undefined;

  constructor(hostile: HostileClass) {
    this.hostile = hostile;
    this.#expected = new Set([hostile.expect].flat());
  }

  expects(outcome: Outcome): boolean {
    return this.#expected.has(outcome);
  }

  note(outcome: Outcome, isNew: boolean, round: number, request: Buffer): void {
    this.#sent++;
    if (isNew) this.#distinct++;
    this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + 1;
    if (this.expects(outcome)) return;
    this.#unexpected++;
    this.#example ??= `request ${round} ended in "${outcome}": ${JSON.stringify(request.toString('latin1').slice(0, 1500))}`;
  }

  report(): ClassTally {
    return {
      name: this.hostile.name,
      sent: this.#sent,
      distinct: this.#distinct,
      outcomes: this.#outcomes,
      unexpected: this.#unexpected,
      example: this.#example,
    };
  }
}

/** Every class once in each round, each round in an order of its own; shared by all clients. */
function* shuffledRounds(tallies: readonly Tally[], rounds: number, random: Random) {
  for (let round = 0; round < rounds; round++) {
    const left = [...tallies];
    while (left.length > 0) {
      const [tally] = left.splice(random.below(left.length), 1);
      if (tally !== undefined) yield { tally, round };
    }
  }
}

/** 48 bits: among millions of requests two that differ are as good as never taken for the same. */
function fingerprint(bytes: Buffer): number {
  return createHash('md5').update(bytes).digest().readUIntBE(0, 6);
}

/** A request can be made again from its class and number alone. */
function seedOf(seed: number, name: string, round: number): number {
  return createHash('md5').update(`${seed} ${name} ${round}`).digest().readUInt32BE(0);
}

export interface AttackerOrders extends AttackOrders {
  /** Connections that send a body byte by byte, all the time. */
  readonly slowConnections: number;
  readonly silent: SilentOrders;
}

interface SilentOrders {
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
