import { randomBytes } from 'node:crypto';
import { Command, InvalidArgumentError, Option } from 'commander';
import { durationMilliseconds } from '../../api/duration.ts';
import { generateRsaKeyPair } from '../../certs/key-pair.ts';
import { createCertificates, type CreatedCertificates } from '../certs/create-certificates.ts';
import { tlsSecretYaml } from '../certs/tls-secret.ts';
import { writeCertificateFiles } from '../certs/write-certificate-files.ts';
import { readNamedFile } from '../files.ts';
import type { Terminal } from '../terminal.ts';

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
