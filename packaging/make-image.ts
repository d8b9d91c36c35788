/**
 * `make image`: builds the image with the first of docker, podman and buildah that works.
 * Variables: BASE, an image with Node; TAG; PLATFORM, such as linux/arm64; CONTAINER_TOOL.
 */
import { execFileSync } from 'node:child_process';
import { assemblyLacks } from './base.ts';
import { buildImage, chosenBase } from './image.ts';
import { project } from './project.ts';

const tools = ['docker', 'podman', 'buildah'];

/** Returns the problem of a tool that does not work. `docker version` also needs the daemon. */
function problemOf(tool: string): string | undefined {
  try {
    execFileSync(tool, [tool === 'docker' ? 'version' : 'info'], { stdio: ['ignore', 'ignore', 'pipe'] });
    return undefined;
  } catch (error) {
    const { code, stderr } = error as { code?: string; stderr?: Buffer };
    return code === 'ENOENT' ? 'is not on the PATH' : `does not work here: ${stderr?.toString().trim() ?? ''}`;
  }
}

async function main(): Promise<void> {
  const { CONTAINER_TOOL: chosen = '', PLATFORM: platform = '', TAG: named = '' } = process.env;
  const tag = named || `${project.name}:${project.version}`;
  const candidates = tools.filter((tool) => chosen === '' || tool === chosen);
  const program = candidates.find((tool) => problemOf(tool) === undefined);
  if (program === undefined) {
    const problems = candidates.map((tool) => `${tool} ${problemOf(tool) ?? ''}`);
    throw new Error(`building needs one of ${tools.join(', ')}: ${problems.join('; ') || `unknown ${chosen}`}`);
  }
  const lacking = assemblyLacks();
  if (chosenBase === undefined && lacking !== undefined)
    throw new Error(`set BASE to an image with Node, such as BASE=node:26-slim; without BASE, ${lacking}`);
  console.log(`building ${tag} with ${program} on ${chosenBase ?? 'a base that is assembled here'} …`);
  await buildImage([program], platform === '' ? [] : ['--platform', platform], tag, console.log);
  console.log(`built ${tag}; docs/image.md explains how to push the image, and how to set it in the chart`);
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
