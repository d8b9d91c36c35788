import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, resolve } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { load } from 'js-yaml';
import { ConfigurationError } from '../api/errors.ts';
import { messageOf } from './api-error.ts';

export type { KubeConfig };

export interface KubeConfigOptions {
  /** A kubeconfig file. Without it: the files of $KUBECONFIG that exist, ~/.kube/config, then the pod's own ServiceAccount. */
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
  const named = (process.env['KUBECONFIG'] ?? '').split(delimiter).filter(Boolean);
  if (kubeconfig === undefined && named.length === 0) {
    attempt('kubeconfig', 'cannot load the kubeconfig', () => config.loadFromDefault());
  } else {
    const [field, files] = kubeconfig === undefined ? ['KUBECONFIG', named] : ['kubeconfig', [kubeconfig]];
    const there = files.filter(existsSync);
    if (there.length === 0) {
      throw new ConfigurationError(
        field,
        `${files.join(delimiter)}: there is no such file; name one by --kubeconfig or KUBECONFIG`,
      );
    }
    for (const file of there) attempt(field, `${file}: not a kubeconfig`, () => addFile(config, file));
    rereadTokenFiles(config, there);
  }
  chooseContext(config, context);
  return config;
}

/** Adds what no earlier file has named, as kubectl does: the library takes the last context and refuses names that stand twice. */
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
      const problem = `${context}: the kubeconfig has no such context; it has ${names.join(', ')}`;
      throw new ConfigurationError('context', problem);
    }
    config.setCurrentContext(context);
  }
  const cluster = config.getCurrentCluster();
  // With nothing to load the library makes up a cluster, which nobody has had for years.
  if (cluster?.server === 'http://localhost:8080' && config.getCurrentUser()?.token === undefined) {
    const message =
      'there is no kubeconfig: name one with --kubeconfig or KUBECONFIG, or run in a pod with a ServiceAccount';
    throw new ConfigurationError('kubeconfig', message);
  }
  if (cluster === null) {
    const message = `the kubeconfig's current-context ${JSON.stringify(config.getCurrentContext())} leads to no cluster; name one with --context`;
    throw new ConfigurationError('context', message);
  }
}

/**
 * The library knows kubectl's `tokenFile` only as an auth provider (read again every minute) or, under another name, once.
 * client-go prefers the file to an inline token; so do we.
 */
function rereadTokenFiles(config: KubeConfig, files: readonly string[]): void {
  // The first file that names a user counts.
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
