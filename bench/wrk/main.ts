/**
 * Compares our server with a bare server under the load of wrk (Debian's package wrk) over TLS, in
 * CPU milliseconds per request. No two requests have equal uids, names, images, ports and hashes.
 *
 *     node --import ./scripts/typescript/register.js bench/wrk/main.ts GOLDEN
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ConfigurationFiles } from '../../src/api/injector-config/configuration-files.ts';
import { type Figures, writeMeasurement } from '../report.ts';
import { ChildServer } from '../server/child-server.ts';
import { neverSeenReviews, neverSeenTemplate, placeholder } from '../server/pod-reviews.ts';
import { recordedScenarios, safeScenarios } from '../server/scenarios.ts';

const [golden] = process.argv.slice(2);
const rounds = 6;
/** The number of requests that are not counted. */
const warmUp = 4000;
const secondsOfRound = 3;
const connections = 4;
const path = '/revisions/default/0a1b2c3d/inject?timeout=10s';
/** The bare server also answers 46 bytes, as servers do that only echo the uid. */
const kinds = ['bare', 'brief', 'ours'] as const;
type Kind = (typeof kinds)[number];

/** What load.lua prints about a round. */
interface Round {
  readonly requests: number;
  readonly failed: number;
  readonly p50: number;
  readonly p99: number;
}

const scratch = mkdtempSync(join(tmpdir(), 'injector-wrk-'));
const bodyFile = join(scratch, 'body');
/** The number of the last request. */
let sent = 0;

/** Applies load to a server, and returns the CPU milliseconds for a request as well. */
async function applyLoad(server: ChildServer, answerBytes: number): Promise<Round & { readonly cpu: number }> {
  const before = server.usage().cpuMilliseconds;
  const args = ['-t1', `-c${connections}`, `-d${secondsOfRound}s`, '-s', join(import.meta.dirname, 'load.lua')];
  const environment = {
    BODY_FILE: bodyFile,
    FIRST: String(sent),
    REQUEST_PATH: path,
    ANSWER_BYTES: String(answerBytes),
  };
  const { stdout } = await promisify(execFile)('wrk', [...args, `https://127.0.0.1:${server.port}`], {
    env: { ...process.env, ...environment },
  });
  const round = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Round;
  sent += round.requests + connections;
  return { ...round, cpu: (server.usage().cpuMilliseconds - before) / round.requests };
}

/** Sends one review, and returns the size of the answer. */
async function answerBytesOf({ port }: ChildServer, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json' };
    const options = { port, path, method: 'POST', headers, rejectUnauthorized: false, agent: false };
    const sending = request(options, (answer) => {
      answer.resume().once('end', () => resolve(Number(answer.headers['content-length'])));
    });
    sending.once('error', reject).end(body);
  });
}

async function compare(name: string, files: ConfigurationFiles, recorded: string): Promise<Figures> {
  const configuration = join(scratch, 'configuration.json');
  writeFileSync(configuration, JSON.stringify(files));
  const { request: review } = JSON.parse(recorded) as {
    request: { object: { metadata: { labels: Record<string, string> } } };
  };
  const hash = review.object.metadata.labels['pod-template-hash'] ?? '';
  const template = neverSeenTemplate(recorded)
    .replaceAll(placeholder, '@N@')
    .replaceAll(hash, '@H@')
    .replace(/"containerPort":\d+/, '"containerPort":@P@');
  writeFileSync(bodyFile, template);
  const [bareServer, server] = [
    await ChildServer.start(scratch, 'bare'),
    await ChildServer.start(scratch, 'ours', configuration),
  ];
  try {
    const answerBytes = await answerBytesOf(server, neverSeenReviews(recorded)(0));
    const load = {
      bare: () => applyLoad(bareServer, answerBytes),
      brief: () => applyLoad(bareServer, 0),
      ours: () => applyLoad(server, answerBytes),
    };
    const found: Record<Kind, Awaited<ReturnType<typeof applyLoad>>[]> = { bare: [], brief: [], ours: [] };
    // Until V8 has compiled what the requests use. A busy machine answers few requests in a round.
    for (const kind of kinds) for (let warm = 0; warm < warmUp;) warm += (await load[kind]()).requests;
    const { reused: reusedBefore } = await server.ask();
    for (let round = 0; round < rounds; round++) for (const kind of kinds) found[kind].push(await load[kind]());
    const median = (kind: Kind, measure: 'cpu' | 'p50' | 'p99'): number =>
      found[kind].map((each) => each[measure]).sort((one, other) => one - other)[rounds / 2] ?? Number.NaN;
    const [bare, bareWithBriefAnswer, ours] = [median('bare', 'cpu'), median('brief', 'cpu'), median('ours', 'cpu')];
    const figures = {
      name,
      answerBytes,
      bare,
      bareWithBriefAnswer,
      ours,
      ratio: ours / bare,
      ratioToBriefAnswer: ours / bareWithBriefAnswer,
      p50: median('ours', 'p50'),
      p99: median('ours', 'p99'),
      p99Ratio: median('ours', 'p99') / median('bare', 'p99'),
      reused: (await server.ask()).reused - reusedBefore,
      failed: kinds.flatMap((kind) => found[kind]).reduce((sum, { failed }) => sum + failed, 0),
    };
    console.log(JSON.stringify(figures));
    return figures;
  } finally {
    for (const each of [bareServer, server]) each.stop();
  }
}

try {
  await promisify(execFile)('wrk', ['--version']).catch((error: unknown) => {
    // Its help ends with status 1.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new Error('wrk is missing: install the package wrk');
  });
  if (golden === undefined) throw new Error('the folder of golden data is missing: pass it as argument');
  const recorded = readFileSync(join(golden, 'review.json'), 'utf8');
  const comparisons = [
    await compare('Istio, never seen', recordedScenarios(golden).files, recorded),
    await compare('Safe, never seen', safeScenarios(golden).files, recorded),
  ];
  console.log(writeMeasurement('bench-wrk', { comparisons }));
} finally {
  rmSync(scratch, { recursive: true });
}
