import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { stringify } from 'yaml';
import { durationMilliseconds } from '../../api/duration.ts';
import { generateRsaKeyPair } from '../../certs/key-pair.ts';
import { createCertificates, type CreatedCertificates } from './create-certificates.ts';
import { describeFileError, readNamedFile } from '../files.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

interface CreateOptions {
  readonly service: string;
  readonly namespace: string;
  readonly host: readonly string[];
  /** Milliseconds. */
  readonly duration: number;
  readonly keySize: string;
  readonly previous?: string;
  readonly out: string;
  readonly secret?: string;
  readonly force?: true;
}

/** `injector certs create`: what webhook-create-signed-cert.sh of Istio 1.x did, without a cluster. For users of `injector serve`. */
export function certsCreateCommand(terminal: Terminal): Command {
  return (
    new Command('create')
      .description(
        'make an authority and a serving certificate for injector serve; the key of the authority is not kept',
      )
      .requiredOption('--service <name>', 'the Service that the API server calls')
      .requiredOption('--namespace <name>', 'its namespace')
      .option('--host <name...>', 'further DNS names or IP addresses, for a webhook by url', [])
      // The default is given as text so that the help shows it as people write it.
      .addOption(
        new Option('--duration <duration>', 'how long both are valid')
          .argParser(parseDuration)
          .default(8760 * 3_600_000, '8760h'),
      )
      .addOption(
        new Option('--key-size <bits>', 'bits of the RSA keys').choices(['2048', '3072', '4096']).default('2048'),
      )
      .option(
        '--previous <file>',
        'the ca.crt that is trusted now: its authorities stay in the new ca.crt, so nothing fails meanwhile',
      )
      .option('--out <directory>', 'where tls.crt, tls.key and ca.crt are written', '.')
      .option('--secret <name>', 'print a Secret of type kubernetes.io/tls with this name instead of writing files')
      .option('--force', 'overwrite files that are there')
      .action(async (options: CreateOptions) => {
        const { service, namespace, host, duration, keySize, previous, secret } = options;
        const created = await createCertificates({
          names: { service, namespace, hosts: host },
          duration,
          keySize: Number(keySize),
          ...(previous === undefined ? {} : { previous: await readNamedFile(terminal, '--previous', previous) }),
          now: new Date(),
          random: randomBytes,
          generateKeyPair: generateRsaKeyPair,
        });
        if (secret === undefined) writeCertificateFiles(options.out, created, options.force === true);
        else terminal.out(tlsSecretYaml(secret, namespace, created));
        terminal.error(summary(options, created));
      })
  );
}

function summary({ service, namespace, secret, out }: CreateOptions, { notAfter }: CreatedCertificates): string {
  const where = secret === undefined ? `${out}: tls.crt, tls.key, ca.crt` : `Secret ${namespace}/${secret}`;
  return `${where}; for ${service}.${namespace}.svc, valid until ${notAfter.toISOString()}; nobody renews it: create the next one before, with --previous`;
}

function parseDuration(text: string): number {
  const milliseconds = durationMilliseconds(text);
  if (
    !/^(\d{1,6}h)?(\d{1,6}m)?(\d{1,8}s)?$/.test(text) ||
    milliseconds < 60_000 ||
    milliseconds > 876_000 * 3_600_000
  ) {
    throw new InvalidArgumentError('It must be a duration such as 8760h or 90m, from a minute to 100 years.');
  }
  return milliseconds;
}

/** A Secret of type kubernetes.io/tls (core/v1 SecretTypeTLS) with the authority beside the pair, as YAML. */
function tlsSecretYaml(name: string, namespace: string, created: CreatedCertificates): string {
  const keys = ['ca.crt', 'tls.crt', 'tls.key'] as const;
  const data = Object.fromEntries(keys.map((key) => [key, Buffer.from(created[key]).toString('base64')]));
  return stringify(
    { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, type: 'kubernetes.io/tls', data },
    { lineWidth: 0 },
  );
}

/** The order in which a server that follows the files may see them change: the authority concerns only whoever calls it. */
const files = [
  ['ca.crt', 0o644],
  ['tls.key', 0o600],
  ['tls.crt', 0o644],
] as const;

/**
 * Writes the three files, each whole (a reader never meets half of one); the key is for its owner alone.
 * @throws UsageError when one is there and `overwrite` is not given, or the directory cannot be written; nothing is written in the first case.
 */
function writeCertificateFiles(directory: string, created: CreatedCertificates, overwrite: boolean): void {
  const present = files.map(([name]) => join(directory, name)).filter((file) => existsSync(file));
  if (present.length > 0 && !overwrite) {
    throw new UsageError(
      `--out ${directory}: ${present.join(', ')} would be overwritten; name another directory, or say --force (and --previous, to keep what is trusted now)`,
    );
  }
  try {
    mkdirSync(directory, { recursive: true });
    for (const [name, mode] of files) {
      const file = join(directory, name);
      writeFileSync(`${file}.new`, created[name], { mode });
      renameSync(`${file}.new`, file);
    }
  } catch (error) {
    throw new UsageError(`--out ${directory}: ${describeFileError(error)}`, { cause: error });
  }
}
