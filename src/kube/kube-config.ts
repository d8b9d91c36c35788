import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { load } from 'js-yaml';
import { ConfigurationError } from '../api/errors.ts';

export type { KubeConfig };

export interface KubeConfigOptions {
  /** A kubeconfig file. Without it: $KUBECONFIG, ~/.kube/config, then the pod's own ServiceAccount. */
  kubeconfig?: string | undefined;
  /** One of the file's contexts instead of its current-context. */
  context?: string | undefined;
}

/**
 * Finds the cluster and the credentials to use.
 * A user's `tokenFile` is read again while we run (bound ServiceAccount tokens expire after an hour).
 * Throws {@link ConfigurationError} when the file is missing or unreadable, or a named context or its cluster is not in it.
 */
export function loadKubeConfig(options: KubeConfigOptions = {}): KubeConfig {
  const config = new KubeConfig();
  if (options.kubeconfig !== undefined) {
    if (!existsSync(options.kubeconfig)) {
      throw new ConfigurationError('kubeconfig', `${options.kubeconfig}: there is no such file; name a kubeconfig`);
    }
    loadFile(config, options.kubeconfig);
    rereadTokenFiles(config, [options.kubeconfig]);
  } else {
    loadDefault(config);
    const variable = process.env['KUBECONFIG'] ?? '';
    rereadTokenFiles(
      config,
      variable.split(':').filter((file) => file !== '' && existsSync(file)),
    );
  }
  chooseContext(config, options.context);
  return config;
}

function loadFile(config: KubeConfig, file: string): void {
  try {
    config.loadFromFile(file);
  } catch (error) {
    throw new ConfigurationError('kubeconfig', `${file}: not a kubeconfig: ${messageOf(error)}`, { cause: error });
  }
}

function loadDefault(config: KubeConfig): void {
  try {
    config.loadFromDefault();
  } catch (error) {
    throw new ConfigurationError('KUBECONFIG', `cannot load the kubeconfig: ${messageOf(error)}`, { cause: error });
  }
}

/** With nothing to load the library makes up a cluster at http://localhost:8080, which nobody has had for years. */
function isMadeUp(config: KubeConfig): boolean {
  return config.getCurrentCluster()?.server === 'http://localhost:8080' && config.getCurrentUser()?.token === undefined;
}

function chooseContext(config: KubeConfig, context: string | undefined): void {
  if (context !== undefined) {
    if (config.getContextObject(context) === null) {
      const names = config.getContexts().map(({ name }) => name);
      throw new ConfigurationError(
        'context',
        `${context}: the kubeconfig has no such context; it has ${names.join(', ')}`,
      );
    }
    config.setCurrentContext(context);
  }
  if (isMadeUp(config)) {
    throw new ConfigurationError(
      'kubeconfig',
      'there is no kubeconfig: name one with --kubeconfig or KUBECONFIG, or run in a pod with a ServiceAccount',
    );
  }
  if (config.getCurrentCluster() === null) {
    throw new ConfigurationError(
      'context',
      `the kubeconfig's current-context ${JSON.stringify(config.getCurrentContext())} leads to no cluster; name one with --context`,
    );
  }
}

/**
 * The library knows kubectl's `tokenFile` only as an auth provider (read again every minute) or, under another name, once.
 * client-go prefers the file to an inline token; so do we.
 */
function rereadTokenFiles(config: KubeConfig, files: readonly string[]): void {
  const tokenFiles = new Map(files.flatMap(tokenFilesOf));
  config.users = config.users.map((user) => {
    const tokenFile = tokenFiles.get(user.name);
    if (tokenFile === undefined) return user;
    const reread = { ...user, authProvider: { name: 'tokenFile', config: { tokenFile } } };
    delete reread.token;
    return reread;
  });
}

function tokenFilesOf(file: string): [user: string, tokenFile: string][] {
  const document = load(readFileSync(file, 'utf8')) as {
    users?: { name?: string; user?: { tokenFile?: string; 'token-file'?: string } | null }[] | null;
  } | null;
  return (document?.users ?? []).flatMap(({ name, user }): [string, string][] => {
    const tokenFile = user?.tokenFile ?? user?.['token-file'];
    return name === undefined || tokenFile === undefined ? [] : [[name, resolve(dirname(file), tokenFile)]];
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
