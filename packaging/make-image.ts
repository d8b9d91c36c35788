/**
 * `make image`: builds the image with docker, podman or buildah, whichever is there.
 * Variables: BASE, an image with Node; TAG; PLATFORM, such as linux/arm64; CONTAINER_TOOL.
 */
import { execFileSync } from 'node:child_process';
import { assemblyLacks } from './base.ts';
import { buildImage, givenBase } from './image.ts';
import { project } from './project.ts';

const tools = ['docker', 'podman', 'buildah'];

/** What a tool says when it is asked for something that it can answer only where it works: docker's client comes without its daemon, too. */
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
    throw new Error(`an image is built by one of ${tools.join(', ')}: ${problems.join('; ') || `not by ${chosen}`}`);
  }
  const lacking = assemblyLacks();
  if (givenBase === undefined && lacking !== undefined)
    throw new Error(`name an image with Node to build on, such as BASE=node:26-slim; without one, ${lacking}`);
  console.log(`building ${tag} with ${program} on ${givenBase ?? 'a base that is assembled here'} …`);
  await buildImage([program], platform === '' ? [] : ['--platform', platform], tag, console.log);
  console.log(`built ${tag}; docs/image.md says how to push it, and how the chart is told`);
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
