import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Random } from '../../../scripts/template-recorder/random.ts';
import { hostileClasses } from '../../../src/server/testdata/hostile/classes.ts';
import { HostileClient } from '../../../src/server/testdata/hostile/client.ts';
import { Materials, type HostileTarget } from '../../../src/server/testdata/hostile/materials.ts';

export interface AttackOrders {
  readonly port: number;
  readonly target: HostileTarget;
  readonly seed: number;
  readonly requestsPerClass: number;
  readonly clients: number;
  /** The number of connections that continuously send a body byte by byte. */
  readonly slowConnections: number;
  /** When silent connections start (in ms), their maximum number, and whether they use TLS. */
  readonly silent: { readonly after: number; readonly most: number; readonly encrypted: boolean };
}

/** The results of the requests of one class. */
export interface ClassTally {
  readonly name: string;
  /** The expected outcomes, for example `400 or closed`. */
  readonly expected: string;
  sent: number;
  distinct: number;
  readonly outcomes: Record<string, number>;
  unexpected: number;
  /** The first unexpected outcome, with the number and the beginning of the request. */
  example?: string;
}

export interface AttackReport {
  readonly classes: readonly ClassTally[];
  readonly seconds: number;
  readonly connections: number;
  /** Aborted handshakes, and requests repeated because the server closed a new connection. */
  readonly brokenOff: number;
  readonly sentAgain: number;
  /** The number of bodies of 19 MiB, by status or by the error code of the connection. */
  readonly largeOutcomes: Readonly<Record<string, number>>;
  readonly slowConnectionsAtEnd: number;
  readonly silentConnections: number;
}

/**
 * Sends the requests of each class in a random order that depends only on the seed.
 *
 * @param underPressure reports whether there are more connections than the server keeps
 */
export async function attack(orders: AttackOrders, underPressure: () => boolean) {
  const { target, seed, requestsPerClass } = orders;
  const seen = new Set<number>();
  const tallies = hostileClasses.map(({ name, expect }): ClassTally => {
    return { name, expected: expect.join(' or '), sent: 0, distinct: 0, outcomes: {}, unexpected: 0 };
  });
  const order = shuffledRounds(hostileClasses.length, requestsPerClass, new Random(seed));
  const started = performance.now();
  let sentAgain = 0;
  const work = async (): Promise<HostileClient> => {
    const client = new HostileClient(orders.port, target.host);
    for (const { index, round } of order) {
      const { name, make, expect } = hostileClasses[index]!;
      const tally = tallies[index]!;
      const request = make(new Materials(seedOf(seed, name, round)), target);
      if (seen.size < seen.add(fingerprint(request.bytes)).size) tally.distinct++;
      const send = (): Promise<string> => client.send(request).catch((error: unknown) => `failed: ${String(error)}`);
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
      tally.example ??= `request ${round} had the outcome "${outcome}": ${beginning}`;
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

/** Yields the index of every class once per round, in random order. Clients share the generator. */
function* shuffledRounds(classes: number, rounds: number, random: Random) {
  for (let round = 0; round < rounds; round++) {
    const left = [...Array(classes).keys()];
    while (left.length > 0) {
      const [index = 0] = left.splice(random.below(left.length), 1);
      yield { index, round };
    }
  }
}

/** Returns 48 bits of a hash, which are enough to tell millions of requests apart. */
function fingerprint(bytes: Buffer): number {
  return createHash('md5').update(bytes).digest().readUIntBE(0, 6);
}

/** Derives the seed of a request, so that class and number reproduce the request. */
function seedOf(seed: number, name: string, round: number): number {
  return createHash('md5').update(`${seed} ${name} ${round}`).digest().readUInt32BE(0);
}

/** Runs the attack in a separate process. */
export async function runAttacker(orders: AttackOrders): Promise<AttackReport> {
  const child = fork(fileURLToPath(new URL('attacker-process.ts', import.meta.url)));
  try {
    child.send(orders);
    return await new Promise<AttackReport>((resolve, reject) => {
      child.once('message', resolve);
      child.once('exit', (code) => reject(new Error(`the attacker process exited with ${code ?? 'a signal'}`)));
    });
  } finally {
    child.kill();
  }
}
