import { memberOf, nowhere, union, whole, type Places } from './data-places.ts';

/** An argument: where its value comes from, and what it is where the template says so. */
export interface Argument {
  readonly places: Places;
  readonly literal?: string;
}

/** What a call makes of its arguments. */
export interface CallReads {
  /** What its result comes from. */
  readonly result: Places;
  /** What its result depends on without showing it. */
  readonly steering: Places;
  /** What it takes apart. */
  readonly parsed: Places;
  /** What may come out somewhere else. */
  readonly kept?: Places;
}

/** The text of an argument stands in the result as it is, but for quotes, space and its case. */
const transparent: ReadonlySet<string> = new Set(
  `append cat coalesce concat default dict indent join last first list lower mergeMaps mustAppend mustPrepend nindent omit omitNil
  prepend print println protoToJSON quote squote strdict structToJSON toJSON toJson toJsonMap toLower toPrettyJson toRawJson toString
  toYaml trim upper valueOrDefault`.split(/\s+/),
);

/** The result is an argument, or what takes its place where it is empty. */
const choosing: ReadonlySet<string> = new Set(['default', 'coalesce', 'valueOrDefault']);
/** The result is one of the arguments, chosen by the others. */
const deciding: ReadonlySet<string> = new Set(['and', 'or', 'ternary']);

/** Text becomes a structure or a list. */
const parsing: ReadonlySet<string> = new Set(
  `fromJSON fromJson fromYaml mustFromJson mustRegexFindAll mustRegexSplit regexFindAll regexSplit split splitList splitn toStrings`.split(
    /\s+/,
  ),
);

/** They change their first argument, which may be read anywhere. */
const changing: ReadonlySet<string> = new Set(
  'set unset merge mergeOverwrite mustMerge mustMergeOverwrite push mustPush'.split(' '),
);

/** Only ports come out of them, which are numbers. */
const numeric: ReadonlySet<string> = new Set(['applicationPorts', 'includeInboundPorts']);

const openTelemetryAnnotations = ['service.namespace', 'service.version', 'service.instance.id'].map(
  (name) => `resource.opentelemetry.io/${name}`,
);

/** What is read by a call of one of the functions that templates have. A function that nothing is said of shows nothing and depends on all. */
export function callReads(name: string, given: readonly Argument[]): CallReads {
  const [first = nothing, second = nothing] = given;
  const all = union(...given.map(({ places }) => places));
  if (name === 'annotation') {
    const value = named(memberOf(first.places, 'Annotations'), second);
    return shows(union(value, ...given.slice(2).map(({ places }) => places)), whole(second.places));
  }
  if (name === 'index' || name === 'get') {
    const keys = whole(union(...given.slice(1).map(({ places }) => places)));
    return shows(
      union(
        given.slice(1).reduce((places, key) => named(places, key), first.places),
        keys,
      ),
      keys,
    );
  }
  if (name === 'isset' || name === 'hasKey') return depends(union(named(first.places, second), whole(second.places)));
  if (name === 'otelResourceAttributes') return shows(openTelemetryReads(given));
  if (numeric.has(name)) return shows(nowhere);
  if (choosing.has(name)) return shows(all);
  if (deciding.has(name)) return shows(all, whole(all));
  if (transparent.has(name) || (name === 'printf' && isPlainFormat(first.literal))) return shows(whole(all));
  if (changing.has(name)) return { ...depends(all), kept: whole(all) };
  return { ...depends(all), parsed: parsing.has(name) ? whole(all) : nowhere };
}

const nothing: Argument = { places: nowhere };

/** Whether a format shows all of its arguments' letters: neither cut (`%.3s`) nor in another form (`%x`). */
function isPlainFormat(format: string | undefined): boolean {
  return format?.replace(/%[%svqdt]/g, '').includes('%') === false;
}

function shows(result: Places, steering: Places = nowhere): CallReads {
  return { result, steering, parsed: nowhere };
}

function depends(places: Places): CallReads {
  return { result: whole(places), steering: whole(places), parsed: nowhere };
}

function named(places: Places, key: Argument): Places {
  return memberOf(places, key.literal ?? '*');
}

/** Istio's function reads these of its arguments: mesh config, annotations, labels, namespace, containers. */
function openTelemetryReads(given: readonly Argument[]): Places {
  const [, annotations = nothing, labels = nothing, namespace = nothing, containers = nothing] = given;
  return union(
    ...openTelemetryAnnotations.map((name) => memberOf(annotations.places, name)),
    memberOf(labels.places, 'app.kubernetes.io/version'),
    namespace.places,
    memberOf(containers.places, '*', 'Name'),
    memberOf(containers.places, '*', 'Image'),
  );
}
