import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Random } from '../../../scripts/template-recorder/random.ts';
import { HostileClient } from './client.ts';
import { Materials, type HostileClass, type HostileTarget, type Outcome } from './materials.ts';

export interface AttackOrders {
  readonly port: number;
  readonly target: HostileTarget;
  readonly seed: number;
  readonly requestsPerClass: number;
  readonly clients: number;
  /** Connections that send a body byte by byte, all the time. */
  readonly slowConnections: number;
  /** When connections that say nothing begin, in milliseconds after the start, and how many if the server does not have to make room for them before. */
  readonly silent: { readonly after: number; readonly most: number };
}

/** What came of the requests of one class. */
export interface ClassTally {
  readonly name: string;
  /** What they were to end in, as it is said: `400 or closed`. */
  readonly expected: string;
  sent: number;
  distinct: number;
  readonly outcomes: Record<string, number>;
  unexpected: number;
  /** The first of these: which request it was, what came of it and how the request began. */
  example?: string;
}

export interface AttackReport {
  readonly classes: readonly ClassTally[];
  readonly seconds: number;
  readonly connections: number;
  /** Of these, handshakes that were broken off; and requests that were sent again because their new connection was closed while the server had to make room. */
  readonly brokenOff: number;
  readonly sentAgain: number;
  /** How often a body of 19 MiB met each status, or each code of a broken connection. */
  readonly largeOutcomes: Readonly<Record<string, number>>;
  readonly slowConnectionsAtEnd: number;
  readonly silentConnections: number;
}

/**
 * Sends so many requests of each class, in a random order that is the same for the same seed.
 *
 * @param underPressure whether there are more connections now than the server keeps
 */
export async function attack(classes: readonly HostileClass[], orders: AttackOrders, underPressure: () => boolean) {
  const { target, seed, requestsPerClass } = orders;
  const seen = new Set<number>();
  const tallies = classes.map(({ name, expect }): ClassTally => {
    return { name, expected: expect.join(' or '), sent: 0, distinct: 0, outcomes: {}, unexpected: 0 };
  });
  const order = shuffledRounds(classes.length, requestsPerClass, new Random(seed));
  const started = performance.now();
  let sentAgain = 0;
  const work = async (): Promise<HostileClient> => {
    const client = new HostileClient(orders.port, target.host);
    for (const { index, round } of order) {
      const { name, make, expect } = classes[index]!;
      const tally = tallies[index]!;
      const request = make(new Materials(seedOf(seed, name, round)), target);
      if (seen.size < seen.add(fingerprint(request.bytes)).size) tally.distinct++;
      const send = (): Promise<Outcome> => client.send(request).catch((error: unknown) => `failed: ${String(error)}`);
      const before = client.opened;
      let outcome = await send();
      if (outcome === 'closed' && !expect.includes(outcome) && client.opened > before && underPressure()) {
        sentAgain++;
        outcome = await send();
      }
      tally.sent++;
      tally.outcomes[outcome] = (tally.outcomes[outcome] ?? 0) + 1;
      if (expect.includes(outcome)) continue;
      tally.unexpected++;
      const beginning = JSON.stringify(request.bytes.toString('latin1').slice(0, 1500));
      tally.example ??= `request ${round} ended in "${outcome}": ${beginning}`;
    }
    client.close();
    return client;
  };
  const workers = await Promise.all(Array.from({ length: orders.clients }, work));
  return {
    classes: tallies,
    seconds: (performance.now() - started) / 1000,
    connections: workers.reduce((sum, { opened }) => sum + opened, 0),
    brokenOff: workers.reduce((sum, { brokenOff }) => sum + brokenOff, 0),
    sentAgain,
  };
}

/** Every class, by its index, once in each round, each round in an order of its own; shared by all clients. */
function* shuffledRounds(classes: number, rounds: number, random: Random) {
  for (let round = 0; round < rounds; round++) {
    const left = [...Array(classes).keys()];
    while (left.length > 0) {
      const [index = 0] = left.splice(random.below(left.length), 1);
      yield { index, round };
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

/** Runs the attack in a process of its own, until it has come to its end. */
export async function runAttacker(orders: AttackOrders): Promise<AttackReport> {
  const child = fork(fileURLToPath(new URL('attacker-process.ts', import.meta.url)));
  try {
    child.send(orders);
    return await new Promise<AttackReport>((resolve, reject) => {
      child.once('message', resolve);
      child.once('exit', (code) => {
        reject(new Error(`the attacker ended by itself, with ${code ?? 'a signal'}`));
      });
    });
  } finally {
    child.kill();
  }
}
