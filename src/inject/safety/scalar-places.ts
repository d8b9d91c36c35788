/** Where a value stands in what templates render: names of fields, and elements of lists as `[name]` or `[index]`. */
export type Place = readonly string[];

const portFields: ReadonlySet<string> = new Set(['name', 'containerPort', 'protocol']);
const probes: ReadonlySet<string> = new Set(['livenessProbe', 'readinessProbe', 'startupProbe']);
const shells: ReadonlySet<string> = new Set(['sh', 'ash', 'bash', 'dash', 'ksh', 'zsh']);

/** Stands for `args` where a shell would run them. */
export const script = 'args of a shell';

/**
 * Whether the text of an author may stand there: labels, annotations, and of containers arguments, values of variables, resources, ports and
 * probes. Everything else decides on what runs, as whom, and on what it can reach: names, images, commands, mounts, volumes, security contexts,
 * and whatever Kubernetes will invent.
 */
export function mayHoldText(place: Place): boolean {
  const [first, second, , field, ...rest] = place;
  if (first === 'metadata') return (second === 'labels' || second === 'annotations') && place.length === 3;
  if (first !== 'spec' || (second !== 'containers' && second !== 'initContainers') || field === undefined) return false;
  switch (field) {
    case 'args':
      return rest.length === 1;
    case 'env':
      return rest.length === 2 && rest[1] === 'value';
    case 'resources':
      return rest.length === 2 && (rest[0] === 'requests' || rest[0] === 'limits');
    case 'ports':
      return rest.length === 2 && portFields.has(rest[1] ?? '');
    default:
      return probes.has(field) && rest.length > 0 && !rest.some((name) => name === 'exec' || name === 'host');
  }
}

/** Whether a place may come and go with an author's annotation: those that hold text, with what they need around them. */
export function mayComeAndGo(place: Place): boolean {
  return mayHoldText(place) || (place.length === 6 && place[3] === 'env' && place[5] === 'name');
}

/** Whether a container's arguments are a script. */
export function runsShell(command: unknown): boolean {
  if (!Array.isArray(command)) return false;
  const [program] = command as unknown[];
  return (
    typeof program === 'string' && shells.has(program.slice(program.lastIndexOf('/') + 1)) && command.includes('-c')
  );
}

/** `spec.containers[web].image` */
export function describePlace(place: Place): string {
  const text = place
    .map((name) =>
      name.startsWith('[') ? name : /^[A-Za-z0-9 ]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`,
    )
    .join('')
    .replace(/^\./, '');
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
