import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { architectures, onPath, shippedNode } from '../../packaging/base.ts';
import { imageMistakes, schemaMistakes } from '../../packaging/check-sboms.ts';
import { archiveName, imageLacks, releaseFolder, revision, writeImages } from '../../packaging/image.ts';
import { unpackImage, type UnpackedImage } from '../../packaging/oci-archive.ts';
import { project, sourceAddress } from '../../packaging/project.ts';
import { bundleBomName, imageBomName, writeSboms, type Bom } from '../../packaging/sboms.ts';
import { loadKubeConfig } from '../../src/kube/kube-config.ts';
import { containersOf } from '../harness/admissions.ts';
import { freePort } from '../harness/free-port.ts';
import { applyUntilReady, smallConfig } from '../harness/injector-configs.ts';
import { answersOk, ManagedProcess } from '../harness/managed-process.ts';
import { paths } from '../harness/paths.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { serviceAccountKubeconfig } from '../harness/service-account.ts';
import { found, none } from '../harness/wait-for.ts';
import { podsMatching } from '../harness/workloads.ts';

const run = promisify(execFile);
/** The values of e_machine in an ELF header. */
const machines = { amd64: 62, arm64: 183 } as const;
/** A program that prints its user, bounding set, NoNewPrivs and whether it can write to `/`. */
const probe = `const { readFileSync, writeFileSync } = require('node:fs');
  const attempt = (file) => { try { writeFileSync(file, ''); return 'written'; } catch ({ code }) { return code; } };
  const [, bounding, noNew] = /CapBnd:\\s+(\\w+)[^]*NoNewPrivs:\\s+(\\d)/.exec(readFileSync('/proc/self/status', 'utf8'));
  console.log(process.getuid(), bounding, noNew, attempt('/probe'));`;

export const image: Scenario = {
  name: 'image',
  about: 'without privileges and read-only, the image injects a pod; the image runs on arm64 and has complete SBOMs',
  run: async (context) => {
    const missing = ['crun', 'unshare', 'qemu-aarch64-static'].filter((program) => onPath(program) === undefined);
    if (process.getuid?.() !== 0) missing.unshift('root');
    const lacking = missing.length > 0 ? `this scenario needs ${missing.join(', ')}` : imageLacks();
    if (lacking !== undefined && process.env['CI'] === 'true') throw new Error(lacking);
    if (lacking !== undefined) return `skipped: ${lacking}`;
    const folder = mkdtempSync(join(tmpdir(), 'injector-image-'));
    context.atEnd(() => rmSync(folder, { recursive: true }));
    const made = await releaseFolder();
    const sums = join(made, 'SHA256SUMS');
    const isComplete = existsSync(sums) && readFileSync(sums, 'utf8').includes(imageBomName('arm64'));
    const released = isComplete ? made : folder;
    if (!isComplete) {
      await writeImages(folder, context.say.bind(context));
      await writeSboms(folder);
    }
    const bom = (file: string) => JSON.parse(readFileSync(join(released, file), 'utf8')) as Bom;
    const images = architectures.map((each) => unpackImage(join(released, archiveName(each)), join(folder, each)));
    for (const { architecture, config, root, lastLayerBytes } of images) {
      const { User: user, Labels: labels } = config;
      const bill = bom(imageBomName(architecture));
      const mistakes = () => imageMistakes(bill, root, architecture, bom(bundleBomName));
      const machine = readFileSync(join(root, 'usr/local/bin/node')).readUInt16LE(18);
      const names = ['title', 'source', 'version', 'revision', 'licenses'];
      const actual = [machine, user, ...names.map((each) => labels[`org.opencontainers.image.${each}`])].join(' ');
      const { name: title, version } = project;
      const expected = [machines[architecture], '65532:65532', title, sourceAddress, version, revision(), 'Apache-2.0'];
      await context.checkNow(`${architecture}: the image has the expected machine code, user and labels`, () =>
        found(actual, expected.join(' ')),
      );
      await context.checkNow(`${architecture}: the operator's layer has at most 6 MB`, () => lastLayerBytes <= 6e6);
      const [schema, files] = [await schemaMistakes(bill), await mistakes()];
      await context.checkNow(`${architecture}: the SBOM is valid by CycloneDX's schema`, () => none(schema));
      await context.checkNow(`${architecture}: each file belongs to a component of the SBOM`, () => none(files));
      writeFileSync(join(root, 'usr/planted'), '');
      const planted = await mistakes();
      await context.checkNow('negative control: the test detects an added file', () => planted.length === 1);
    }
    await runHardened(context, images[0]!, folder);
    const { root } = images[1]!;
    const node = ['-L', root, join(root, 'usr/local/bin/node')];
    const program = join(root, 'opt/sidecar-injector/injector.cjs');
    const inject = ['inject', '-f', join(paths.examples, 'sleep.yaml'), '--config', join(paths.examples, 'hello.yaml')];
    const emulated = async (...args: string[]) => (await run('qemu-aarch64-static', [...node, ...args])).stdout;
    const native = (await run(process.execPath, [paths.injector, ...inject])).stdout;
    const versions = (await emulated('--version')) + (await emulated(program, '--version'));
    const expected = `v${shippedNode.version}\n${project.version}\n`;
    await context.checkNow('arm64: Node and the program print their versions', () => found(versions, expected));
    const injected = await emulated(program, ...inject);
    const without = await emulated(program, 'playground').catch(
      (error: unknown) => (error as { stderr: string }).stderr,
    );
    await context.checkNow('the image has no pages, and the command says who has them', () =>
      found(
        without.replace(root, ''),
        'error: the playground cannot be served: its page is not in /opt/sidecar-injector/web/playground; use the npm package or the kubectl plugin, or make build in a clone\n',
      ),
    );
    await context.checkNow('arm64: injector inject injects an example', () => injected.includes('name: hello'));
    await context.checkNow('arm64: injector inject prints the same as here', () => found(injected, native));
    return `the operator's layer has ${(images[0]!.lastLayerBytes / 1e6).toFixed(1)} MB, Node ${shippedNode.version}`;
  },
};

/** Runs the image with the arguments, environment, user and restrictions of the chart's pod. */
async function runHardened(context: ScenarioContext, { config, root }: UnpackedImage, folder: string): Promise<void> {
  const { client, cluster } = context;
  const [webhookPort, healthPort] = [await freePort(), await freePort()];
  const extraArgs = [`--advertise=${cluster.advertiseHost}:${webhookPort}`];
  const operator = { webhookPort, healthPort, drainSeconds: 1, extraArgs };
  const { namespace, workloads } = await context.install({ operator });
  const { deployment, account: name, environment } = workloads[0]!;
  const [pod] = await podsMatching(client, namespace, deployment.spec.selector.matchLabels);
  const kubeconfig = loadKubeConfig({ kubeconfig: await serviceAccountKubeconfig(cluster, namespace, name, pod) });
  const { server = '', caData = '' } = kubeconfig.getCurrentCluster() ?? {};
  const secret = join(folder, 'serviceaccount');
  mkdirSync(secret);
  writeFileSync(join(secret, 'token'), kubeconfig.getCurrentUser()?.token ?? '');
  writeFileSync(join(secret, 'ca.crt'), Buffer.from(caData, 'base64'));
  writeFileSync(join(secret, 'namespace'), namespace);
  const { hostname, port } = new URL(server);
  const ofPod = [`POD_NAME=${pod?.metadata.name ?? ''}`, `POD_NAMESPACE=${namespace}`];
  const ofCluster = [`KUBERNETES_SERVICE_HOST=${hostname}`, `KUBERNETES_SERVICE_PORT=${port}`];
  const ofChart = Object.entries(environment).map(([key, value]) => `${key}=${value}`);
  const [uid, gid] = config.User.split(':').map(Number);
  const mounts = [
    { destination: '/proc', type: 'proc', source: 'proc' },
    { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755', 'size=65536k'] },
    { destination: '/var/run/secrets/kubernetes.io/serviceaccount', type: 'bind', source: secret, options: ['bind'] },
  ];
  /** Returns arguments for unshare. The PID namespace ensures that no process outlives crun. */
  const container = (id: string, args: readonly string[], isHardened = true) => {
    const bundle = join(folder, id);
    mkdirSync(bundle);
    const rights = isHardened ? { user: { uid, gid } } : { user: {}, capabilities: { bounding: ['CAP_KILL'] } };
    const env = [...config.Env, ...ofChart, ...ofPod, ...ofCluster];
    const process = { args, env, cwd: '/', capabilities: {}, noNewPrivileges: isHardened, ...rights };
    const linux = { namespaces: ['pid', 'mount', 'ipc', 'uts'].map((type) => ({ type })) };
    const file = { ociVersion: '1.0.2', process, root: { path: root, readonly: isHardened }, mounts, linux };
    writeFileSync(join(bundle, 'config.json'), JSON.stringify(file));
    // crun refuses to run on a machine with both versions of cgroups, even if it uses no cgroups.
    const withoutCgroups = ['sh', '-c', 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"', 'sh'];
    const crun = ['crun', '--cgroup-manager=disabled', '--root', join(folder, 'crun'), 'run', '--bundle', bundle, id];
    return ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc', ...withoutCgroups, ...crun];
  };
  const node = ['node', '-e', probe];
  const { stdout: hardened } = await run('unshare', container('hardened', node));
  const { stdout: loose } = await run('unshare', container('loose', node, false));
  await context.checkNow('a program in the hardened container has no privileges and cannot write', () =>
    found(hardened, `65532 ${'0'.repeat(16)} 1 EROFS\n`),
  );
  await context.checkNow('negative control: in a container that is not hardened, a program is root and can write', () =>
    found(loose, `0 ${'20'.padStart(16, '0')} 0 written\n`),
  );
  const args = deployment.spec.template.spec.containers.flatMap(({ args: each = [] }) => each);
  const command = [...config.Entrypoint, ...args.map((each) => each.replaceAll('$(POD_NAMESPACE)', namespace))];
  const started = new ManagedProcess({
    name: 'image',
    command: 'unshare',
    arguments: container('operator', command),
    run: cluster.run,
  });
  started.start();
  context.atEnd(() => started.kill());
  await started.waitUntilReady(() => answersOk(`http://127.0.0.1:${healthPort}/readyz`), 60_000);
  const revisionName = `${context.name}-revision`;
  await applyUntilReady(client, smallConfig(revisionName));
  const apps = await context.namespace('apps', { 'istio.io/rev': revisionName });
  await context.check('the image injects a pod', async () =>
    found((await containersOf(client, apps)).join(' '), `${revisionName} sleep`),
  );
  await started.stop(30_000);
  await context.checkNow('the image exits with 0 after SIGTERM', () => started.end?.code === 0);
}
