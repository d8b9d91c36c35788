import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';

/** A module that is left out of a bundle, and what stands in its place. */
interface Replacement {
  /** How it is imported. */
  readonly path: RegExp;
  /** Who imports it. */
  readonly importer: RegExp;
  /** JavaScript; its own imports are resolved from `folder`. */
  readonly contents: string;
  readonly folder: string;
}

const clientNode = dirname(createRequire(import.meta.url).resolve('@kubernetes/client-node'));

const replacements: readonly Replacement[] = [
  {
    // Of 18 MiB, most of them classes generated for each kind of the API, we use how a kubeconfig becomes credentials. The library's Operator makes a client in its
    // constructor, which only its own watching asks for anything (a `basePath` that clients no longer have), and we override that.
    path: /^@kubernetes\/client-node$/,
    importer: /./,
    contents: "export { KubeConfig } from './config.js'; export class CoreV1Api {}",
    folder: clientNode,
  },
  {
    // The same for what the kubeconfig makes clients of.
    path: /^\.\/gen\/index\.js$/,
    importer: /client-node[\\/]dist[\\/]config\.js$/,
    contents:
      "export { createConfiguration } from './configuration.js'; export { ServerConfiguration } from './servers.js';",
    folder: join(clientNode, 'gen'),
  },
  {
    // node-fetch takes it only where Node has no URL of its own; 0.4 MiB of tables.
    path: /^whatwg-url$/,
    importer: /[\\/]node-fetch[\\/]/,
    contents: 'module.exports = require("node:url");',
    folder: '.',
  },
  {
    // Messages in fifty languages; English is set elsewhere.
    path: /locales\/index\.js$/,
    importer: /[\\/]zod[\\/]/,
    contents: 'export {};',
    folder: '.',
  },
];

const namespace = 'replacement';

/** Leaves out of a bundle what libraries bring and nothing here reaches: code that is never run is read, held in memory and looked through at every start. */
export const leanLibraries: Plugin = {
  name: 'lean-libraries',
  setup(build) {
    replacements.forEach(({ path, importer, contents, folder }, index) => {
      build.onResolve({ filter: path }, (args) =>
        importer.test(args.importer) ? { path: String(index), namespace } : undefined,
      );
      build.onLoad({ filter: new RegExp(`^${index}$`), namespace }, () => ({ contents, resolveDir: folder }));
    });
  },
};
