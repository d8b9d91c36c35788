import { randomBytes } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { stringify } from 'yaml';
import { durationMilliseconds } from '../../api/duration.ts';
import { issueAuthority, issueServingCertificate } from '../../certs/issue-certificate.ts';
import { joinBundle, parseBundle, readChain } from '../../certs/read-certificate.ts';
import { subjectAltNames } from '../../certs/certificate-names.ts';
import { generateRsaKeyPair } from '../../certs/key-pair.ts';
import { atFile, readNamedFile } from '../files.ts';
import { replaceFiles } from '../replace-files.ts';
import { type Terminal, UsageError } from '../terminal.ts';

interface CreateOptions {
  readonly service: string;
  readonly namespace: string;
  readonly host: readonly string[];
  /** The validity of both certificates, in milliseconds. */
  readonly duration: number;
  readonly keySize: string;
  readonly previous?: string;
  readonly out: string;
  readonly secret?: string;
  readonly force?: true;
}

/** `injector certs create`: replaces webhook-create-signed-cert.sh of Istio 1.x. */
export function certsCreateCommand(terminal: Terminal): Command {
  return (
    new Command('create')
      .description(
        'create an authority and a serving certificate for injector serve; the key of the authority is not kept',
      )
      .requiredOption('--service <name>', 'the Service that the API server calls')
      .requiredOption('--namespace <name>', 'the namespace of the Service')
      .option('--host <name...>', 'more DNS names or IP addresses, for a webhook with a url', [])
      // The help shows `8760h` instead of the number of milliseconds.
      .addOption(
        new Option('--duration <duration>', 'how long both certificates are valid')
          .argParser(parseDuration)
          .default(8760 * 3_600_000, '8760h'),
      )
      .addOption(
        new Option('--key-size <bits>', 'the size of the RSA keys in bits')
          .choices(['2048', '3072', '4096'])
          .default('2048'),
      )
      .option(
        '--previous <file>',
        'the ca.crt that is trusted now; its authorities stay in the new ca.crt, so that no request fails during the change',
      )
      .option('--out <directory>', 'the directory for tls.crt, tls.key and ca.crt', '.')
      .addOption(
        new Option(
          '--secret <name>',
          'print a Secret of type kubernetes.io/tls with this name instead of writing files',
        ).conflicts(['out', 'force']),
      )
      .option('--force', 'overwrite existing files')
      .action(async (options: CreateOptions) => {
        const { namespace, previous, secret } = options;
        const trusted = previous === undefined ? undefined : await readNamedFile(terminal, '--previous', previous);
        const created = await createCertificates(options, trusted);
        if (secret === undefined) writeCertificateFiles(options.out, created, options.force === true);
        else terminal.document(tlsSecretYaml(secret, namespace, created));
        terminal.error(summary(options, created));
      })
  );
}

/** The contents of a `kubernetes.io/tls` Secret, by key. */
interface CreatedCertificates {
  readonly 'tls.crt': string;
  readonly 'tls.key': string;
  /** The new authority comes first. */
  readonly 'ca.crt': string;
  readonly notAfter: Date;
}

/**
 * Creates an authority, signs one serving certificate, and discards the authority's key, so that
 * nothing can be signed with it later. Both certificates expire at the same time.
 * @param previous PEM authorities that must stay trusted while the old certificate is served
 * @throws UsageError when `previous` contains no certificate; CertificatePolicyError for an invalid
 *   name
 */
async function createCertificates(options: CreateOptions, previous?: string): Promise<CreatedCertificates> {
  if (previous !== undefined && parseBundle(previous).length === 0)
    throw new UsageError('--previous: the file contains no PEM certificate; name the ca.crt that is trusted now');
  const { service, namespace, host: hosts, duration, keySize } = options;
  const names = { service, namespace, hosts };
  // Refuse invalid names first, because generating the keys takes a second.
  subjectAltNames(names);
  const bits = Number(keySize);
  const [authorityKeys, leafKeys] = await Promise.all([generateRsaKeyPair(bits), generateRsaKeyPair(bits)]);
  const issuing = { now: new Date(), duration, random: randomBytes };
  const authority = issueAuthority(service, authorityKeys, issuing);
  const leaf = issueServingCertificate(authority, names, leafKeys, issuing);
  return {
    'tls.crt': leaf.certificatePem,
    'tls.key': leaf.privateKeyPem,
    'ca.crt': joinBundle([authority.certificatePem, previous ?? '']),
    notAfter: readChain(leaf.certificatePem)[0].notAfter,
  };
}

function summary({ service, namespace, secret, out }: CreateOptions, { notAfter }: CreatedCertificates): string {
  const where = secret === undefined ? `${out}: tls.crt, tls.key, ca.crt` : `Secret ${namespace}/${secret}`;
  return `${where}; for ${service}.${namespace}.svc, valid until ${notAfter.toISOString()}; the certificate is not renewed automatically: create a new certificate before that time, with --previous`;
}

function parseDuration(text: string): number {
  const milliseconds = durationMilliseconds(text);
  const isDuration = /^(\d{1,6}h)?(\d{1,6}m)?(\d{1,8}s)?$/.test(text);
  if (!isDuration || milliseconds < 60_000 || milliseconds > 876_000 * 3_600_000)
    throw new InvalidArgumentError('It must be a duration such as 8760h or 90m, from a minute to 100 years.');
  return milliseconds;
}

/** Formats a Secret of type kubernetes.io/tls (core/v1 SecretTypeTLS), and adds the authority. */
function tlsSecretYaml(name: string, namespace: string, created: CreatedCertificates): string {
  const keys = ['ca.crt', 'tls.crt', 'tls.key'] as const;
  const data = Object.fromEntries(keys.map((key) => [key, Buffer.from(created[key]).toString('base64')]));
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, type: 'kubernetes.io/tls', data };
  return stringify(secret, { lineWidth: 0 });
}

/** The files to write and their modes, in an order that is safe for a server that watches them. */
const files = [
  ['ca.crt', 0o644],
  ['tls.key', 0o600],
  ['tls.crt', 0o644],
] as const;

/**
 * Writes all files or none. Only the file's owner can read `tls.key`.
 * @throws UsageError when a file or link exists and `overwrite` is false, before anything is
 *   written; or when the directory cannot be written
 */
function writeCertificateFiles(directory: string, created: CreatedCertificates, overwrite: boolean): void {
  const isPresent = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  const present = files.map(([name]) => join(directory, name)).filter(isPresent);
  if (present.length > 0 && !overwrite) {
    const message = `--out ${directory}: ${present.join(', ')} would be overwritten; name another directory, or use --force (and --previous, to keep the trusted authorities)`;
    throw new UsageError(message);
  }
  const contents = files.map(([name, mode]) => ({ name, mode, text: created[name] }));
  atFile(`--out ${directory}`, () => replaceFiles(directory, contents, randomBytes));
}
