import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';

/** A module that a bundle omits, and its replacement. */
interface Replacement {
  /** The specifier by which the module is imported. */
  readonly path: RegExp;
  /** The files that import the module. */
  readonly importer: RegExp;
  /** JavaScript whose imports are resolved from `folder`. */
  readonly contents: string;
  readonly folder: string;
}

const clientNode = dirname(createRequire(import.meta.url).resolve('@kubernetes/client-node'));

const replacements: readonly Replacement[] = [
  {
    // The program only converts kubeconfigs to credentials; the rest is 18 MiB of generated code.
    // Class Operator creates a client for its watches, which the program overrides.
    path: /^@kubernetes\/client-node$/,
    importer: /./,
    contents: "export { KubeConfig } from './config.js'; export class CoreV1Api {}",
    folder: clientNode,
  },
  {
    // KubeConfig also imports the generated classes.
    path: /^\.\/gen\/index\.js$/,
    importer: /client-node[\\/]dist[\\/]config\.js$/,
    contents:
      "export { createConfiguration } from './configuration.js'; export { ServerConfiguration } from './servers.js';",
    folder: join(clientNode, 'gen'),
  },
  {
    // 0.4 MiB of tables, which node-fetch uses only if Node has no URL class.
    path: /^whatwg-url$/,
    importer: /[\\/]node-fetch[\\/]/,
    contents: 'module.exports = require("node:url");',
    folder: '.',
  },
  {
    // Messages in fifty languages; another module sets English.
    path: /locales\/index\.js$/,
    importer: /[\\/]zod[\\/]/,
    contents: 'export {};',
    folder: '.',
  },
];

const namespace = 'replacement';

/** Omits unused library code, because such code would cost memory and time at every start. */
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
