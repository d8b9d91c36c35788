import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, resolve } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { load } from 'js-yaml';
import { ConfigurationError } from '../api/errors.ts';
import { messageOf } from './api-error.ts';

export type { KubeConfig };

export interface KubeConfigOptions {
  /** A kubeconfig file. Default: $KUBECONFIG, else ~/.kube/config, else the ServiceAccount. */
  kubeconfig?: string | undefined;
  /** The context to use instead of the file's current-context. */
  context?: string | undefined;
}

/**
 * Loads the cluster and the credentials; rereads a `tokenFile`, since bound tokens expire after an
 * hour.
 * @throws ConfigurationError when the file cannot be read, or lacks the context or its cluster
 */
export function loadKubeConfig({ kubeconfig, context }: KubeConfigOptions = {}): KubeConfig {
  const config = new KubeConfig();
  const named = (process.env['KUBECONFIG'] ?? '').split(delimiter).filter(Boolean);
  if (kubeconfig === undefined && named.length === 0) {
    attempt('kubeconfig', 'cannot load the kubeconfig', () => config.loadFromDefault());
  } else {
    const [field, files] = kubeconfig === undefined ? ['KUBECONFIG', named] : ['kubeconfig', [kubeconfig]];
    const existing = files.filter(existsSync);
    if (existing.length === 0) {
      throw new ConfigurationError(
        field,
        `${files.join(delimiter)}: there is no such file; set --kubeconfig or KUBECONFIG to a kubeconfig`,
      );
    }
    for (const file of existing) attempt(field, `${file}: not a kubeconfig`, () => addFile(config, file));
    rereadTokenFiles(config, existing);
  }
  chooseContext(config, context);
  return config;
}

/** Adds entries whose names are new, as kubectl does; the library would reject duplicates. */
function addFile(config: KubeConfig, file: string): void {
  const added = new KubeConfig();
  if (readFileSync(file, 'utf8').trim() === '') throw new Error('it is empty');
  added.loadFromFile(file);
  const byName = <T extends { name: string }>(known: T[] = [], more: T[]): T[] => [
    ...known,
    ...more.filter(({ name }) => !known.some((each) => each.name === name)),
  ];
  config.clusters = byName(config.clusters, added.clusters);
  config.users = byName(config.users, added.users);
  config.contexts = byName(config.contexts, added.contexts);
  config.currentContext ||= added.currentContext;
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
      const problem = `the kubeconfig has no context ${JSON.stringify(context)}; its contexts are ${names.join(', ')}`;
      throw new ConfigurationError('context', problem);
    }
    config.setCurrentContext(context);
  }
  const cluster = config.getCurrentCluster();
  // If there is no kubeconfig, the library makes up this cluster.
  if (cluster?.server === 'http://localhost:8080' && config.getCurrentUser()?.token === undefined) {
    const message = 'no kubeconfig was found: set --kubeconfig or KUBECONFIG, or run in a pod with a ServiceAccount';
    throw new ConfigurationError('kubeconfig', message);
  }
  if (cluster === null) {
    const message = `the kubeconfig's current-context ${JSON.stringify(config.getCurrentContext())} names no known cluster; choose another context with --context`;
    throw new ConfigurationError('context', message);
  }
}

/**
 * Converts each `tokenFile` to the library's auth provider, which rereads the file every minute.
 * Prefers the file to an inline token, as client-go does.
 */
function rereadTokenFiles(config: KubeConfig, files: readonly string[]): void {
  // The first file that defines a user wins.
  const tokenFiles = new Map([...files].reverse().flatMap(tokenFilesOf));
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
