/** Reads an OCI archive as a container runtime does. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Architecture } from './base.ts';

type Descriptor = Readonly<Record<'digest', string>>;

interface Configuration {
  readonly architecture: Architecture;
  readonly config: {
    readonly User: string;
    readonly Env: readonly string[];
    readonly Entrypoint: readonly string[];
    readonly Labels: Readonly<Record<string, string>>;
  };
}

/**
 * Unpacks an archive into a folder and checks the digest of each part. The last layer is ours.
 *
 * @returns the architecture, the configuration, the root folder, and the last layer's size in bytes
 */
export function unpackImage(archive: string, folder: string) {
  const [layout, root] = [path.join(folder, 'layout'), path.join(folder, 'root')];
  for (const each of [layout, root]) mkdirSync(each, { recursive: true });
  execFileSync('tar', ['-xf', archive, '-C', layout]);
  const blobFile = ({ digest }: Descriptor) => path.join(layout, 'blobs', ...digest.split(':'));
  const blob = (part: Descriptor): Buffer => {
    const content = readFileSync(blobFile(part));
    const found = `sha256:${createHash('sha256').update(content).digest('hex')}`;
    if (found !== part.digest) throw new Error(`${archive}: ${part.digest} has digest ${found}`);
    return content;
  };
  const index = JSON.parse(readFileSync(path.join(layout, 'index.json'), 'utf8')) as { manifests: Descriptor[] };
  const [image, ...others] = index.manifests;
  if (image === undefined || others.length > 0) throw new Error(`${archive} has ${index.manifests.length} images`);
  const manifest = JSON.parse(blob(image).toString()) as { config: Descriptor; layers: Descriptor[] };
  let lastLayerBytes = 0;
  for (const layer of manifest.layers) {
    lastLayerBytes = gunzipSync(blob(layer)).length;
    execFileSync('tar', ['-xzf', blobFile(layer), '-C', root, '--same-permissions']);
  }
  const { architecture, config } = JSON.parse(blob(manifest.config).toString()) as Configuration;
  return { architecture, config, root, lastLayerBytes };
}

export type UnpackedImage = ReturnType<typeof unpackImage>;
