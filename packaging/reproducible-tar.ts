/** Packs archives whose bytes depend only on names, contents and one time. */
import { pipeline } from 'node:stream/promises';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { extract, pack } from 'tar-stream';

/** A file of an archive. */
export interface ArchivedFile {
  readonly content: Buffer;
  readonly executable?: boolean;
}

/**
 * Packs files ordered by name, without owners, with one time, and with mode 755 or 644.
 * The bytes also depend on the zlib of Node, so the release workflow pins the Node version.
 *
 * @param seconds the time of every file, in seconds since 1970
 */
export async function packTarGz(files: ReadonlyMap<string, ArchivedFile>, seconds: number): Promise<Buffer> {
  const archive = pack();
  const mtime = new Date(seconds * 1000);
  for (const [name, { content, executable = false }] of [...files].sort(([one], [other]) => (one < other ? -1 : 1)))
    archive.entry({ name, mtime, mode: executable ? 0o755 : 0o644 }, content);
  archive.finalize();
  const packed = gzipSync(await buffer(archive), { level: 9 });
  // The tenth byte names the operating system: 255 is "unknown".
  packed[9] = 255;
  return packed;
}

/** Returns the files of an archive by name, each with its time in seconds since 1970. */
export async function unpackTarGz(packed: Buffer): Promise<Map<string, ArchivedFile & { readonly mtime: number }>> {
  const files = new Map<string, ArchivedFile & { readonly mtime: number }>();
  const reader = extract();
  reader.on('entry', ({ name, mode, mtime }, stream, next) => {
    void buffer(stream).then((content) => {
      files.set(name, { content, executable: (mode & 0o100) !== 0, mtime: mtime.getTime() / 1000 });
      next();
    }, next);
  });
  await pipeline([gunzipSync(packed)], reader);
  return files;
}
