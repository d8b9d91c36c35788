import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signalGroup, type RunDirectory } from './run-directory.ts';
import { Hopeless, waitFor } from './wait-for.ts';

interface ProcessSettings {
  /** The name in messages and of the log file, which has standard output and standard error. */
  name: string;
  command: string;
  arguments: string[];
  environment?: Record<string, string>;
  /** The directory for the log and the process ID, so that a later run can end the process. */
  run: RunDirectory;
}

interface ProcessEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A program in its own process group, which can be started, stopped, killed and frozen. */
export class ManagedProcess {
  readonly name: string;
  readonly logFile: string;
  readonly #settings: ProcessSettings;
  #child: ChildProcess | undefined;
  #end: ProcessEnd | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(settings: ProcessSettings) {
    this.name = settings.name;
    this.logFile = join(settings.run.path, `${settings.name}.log`);
    this.#settings = settings;
  }

  get pid(): number | undefined {
    return this.running ? this.#child?.pid : undefined;
  }

  get running(): boolean {
    return this.#child !== undefined && this.#end === undefined;
  }

  /** How the last process ended; undefined while a process runs and before the first start. */
  get end(): ProcessEnd | undefined {
    return this.#end;
  }

  start(): void {
    if (this.running) throw new Error(`${this.name} is already running`);
    const { command, arguments: args, environment, run } = this.#settings;
    const log = openSync(this.logFile, 'a');
    writeSync(log, `--- ${new Date().toISOString()} ${command} ${args.join(' ')}\n`);
    // Detach, so that Ctrl-C reaches only the harness, which then stops processes in order.
    const child = spawn(command, args, {
      detached: true,
      stdio: ['ignore', log, log],
      // Omit proxies, credentials and debug switches in the environment of a developer's shell.
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', ...environment },
    });
    closeSync(log);
    this.#child = child;
    this.#end = undefined;
    this.#ended = new Promise((resolve) => {
      const finish = (end: ProcessEnd) => {
        this.#end ??= end;
        resolve();
      };
      child.once('exit', (code, signal) => finish({ code, signal }));
      child.once('error', () => finish({ code: 127, signal: null }));
    });
    if (child.pid !== undefined) run.recordProcess(child.pid, this.name);
  }

  /** Sends SIGTERM and waits; sends SIGKILL after `timeout` milliseconds. */
  async stop(timeout = 10_000): Promise<void> {
    if (!this.#signal('SIGTERM')) return;
    const ended = await Promise.race([this.#ended.then(() => true), sleep(timeout, false, { ref: false })]);
    if (!ended) await this.kill();
  }

  /** Kills the process with SIGKILL. */
  async kill(): Promise<void> {
    if (this.#signal('SIGKILL')) await this.#ended;
  }

  /** Suspends the process with SIGSTOP: connections stay open, but get no answers. */
  freeze(): void {
    this.#signal('SIGSTOP');
  }

  unfreeze(): void {
    this.#signal('SIGCONT');
  }

  async waitForEnd(timeout: number): Promise<ProcessEnd> {
    return waitFor(`${this.name} to end`, () => this.#end, { timeout, interval: 20 });
  }

  async waitUntilReady(ready: () => Promise<boolean>, timeout: number): Promise<void> {
    const isReady = async () => {
      if (this.#end === undefined) return ready();
      throw new Hopeless(`${this.name} ended with ${describeEnd(this.#end)} before it was ready`);
    };
    try {
      await waitFor(`${this.name} to be ready`, isReady, { timeout, interval: 25 });
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${this.logTail()}`, { cause: error });
    }
  }

  log(): string {
    return existsSync(this.logFile) ? readFileSync(this.logFile, 'utf8') : '';
  }

  /** Returns the last log lines that `isWanted` accepts, after a heading with the file name. */
  logTail(lines = 25, isWanted: (line: string) => boolean = () => true): string {
    const wanted = this.log().trimEnd().split('\n').filter(isWanted);
    return [`--- the end of ${this.logFile}`, ...wanted.slice(-lines)].join('\n');
  }

  /** Lets the harness end while this process keeps running. */
  release(): void {
    this.#child?.unref();
  }

  #signal(signal: NodeJS.Signals): boolean {
    return this.pid !== undefined && signalGroup(this.pid, signal);
  }
}

function describeEnd(end: ProcessEnd): string {
  return end.signal === null ? `exit code ${end.code ?? 'unknown'}` : `signal ${end.signal}`;
}

/** Reports whether a URL answers with status 200. @param authority the server's CA as PEM */
export function answersOk(url: string, authority?: string): Promise<boolean> {
  return new Promise((resolve) => {
    const get = url.startsWith('https:') ? httpsGet : httpGet;
    const options = { agent: false as const, timeout: 2000, ...(authority === undefined ? {} : { ca: authority }) };
    const request = get(url, options, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(false));
  });
}
