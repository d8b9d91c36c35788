import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { load } from 'js-yaml';
import { ConfigurationError } from '../api/errors.ts';
import { messageOf } from './api-error.ts';

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
export function loadKubeConfig({ kubeconfig, context }: KubeConfigOptions = {}): KubeConfig {
  const config = new KubeConfig();
  if (kubeconfig === undefined) {
    attempt('KUBECONFIG', 'cannot load the kubeconfig', () => {
      config.loadFromDefault();
    });
    const files = process.env['KUBECONFIG']?.split(':') ?? [];
    rereadTokenFiles(config, files.filter(existsSync));
  } else {
    if (!existsSync(kubeconfig)) {
      throw new ConfigurationError('kubeconfig', `${kubeconfig}: there is no such file; name a kubeconfig`);
    }
    attempt('kubeconfig', `${kubeconfig}: not a kubeconfig`, () => {
      config.loadFromFile(kubeconfig);
    });
    rereadTokenFiles(config, [kubeconfig]);
  }
  chooseContext(config, context);
  return config;
}

function attempt(field: string, problem: string, load: () => void): void {
  try {
    load();
  } catch (error) {
    throw new ConfigurationError(field, `${problem}: ${messageOf(error)}`, { cause: error });
  }
}

function chooseContext(config: KubeConfig, context: string | undefined): void {
  if (context !== undefined) {
    if (config.getContextObject(context) === null) {
      const names = config.getContexts().map(({ name }) => name);
      const problem = `${context}: the kubeconfig has no such context; it has ${names.join(', ')}`;
      throw new ConfigurationError('context', problem);
    }
    config.setCurrentContext(context);
  }
  const cluster = config.getCurrentCluster();
  // With nothing to load the library makes up a cluster, which nobody has had for years.
  if (cluster?.server === 'http://localhost:8080' && config.getCurrentUser()?.token === undefined) {
    throw new ConfigurationError(
      'kubeconfig',
      'there is no kubeconfig: name one with --kubeconfig or KUBECONFIG, or run in a pod with a ServiceAccount',
    );
  }
  if (cluster === null) {
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
