import { memberOf, noPaths, union, wholePaths, type DataPaths } from './data-paths.ts';

/** An argument: the origin of its value, and its text if it is a constant. */
export interface TracedArgument {
  readonly paths: DataPaths;
  readonly literal?: string;
}

/** The data flow of a function call. */
export interface CallReads {
  /** The origin of the result. */
  readonly result: DataPaths;
  /** The data that influence the result without appearing in it. */
  readonly steering: DataPaths;
  /** The data that the function parses. */
  readonly parsed: DataPaths;
  /** The data that may appear elsewhere in the output. */
  readonly kept?: DataPaths;
}

/** Functions whose result contains the argument's text, except for quotes, space and case. */
const transparent: ReadonlySet<string> = new Set(
  `append cat coalesce concat default dict indent join last first list lower mergeMaps mustAppend mustPrepend nindent omit omitNil
  prepend print println protoToJSON quote squote strdict structToJSON toJSON toJson toJsonMap toLower toPrettyJson toRawJson toString
  toYaml trim upper valueOrDefault`.split(/\s+/),
);

/** Functions that return an argument, or a default if the argument is empty. */
const choosing: ReadonlySet<string> = new Set(['default', 'coalesce', 'valueOrDefault']);
/** Functions that choose one of their arguments. */
const deciding: ReadonlySet<string> = new Set(['and', 'or', 'ternary']);

/** Functions that parse text. */
const parsing: ReadonlySet<string> = new Set(
  `fromJSON fromJson fromYaml mustFromJson mustRegexFindAll mustRegexSplit regexFindAll regexSplit split splitList splitn toStrings`.split(
    /\s+/,
  ),
);

/** Functions that change their first argument, which other expressions may read. */
const changing: ReadonlySet<string> = new Set(
  'set unset merge mergeOverwrite mustMerge mustMergeOverwrite push mustPush'.split(' '),
);

/** Functions that return only port numbers. */
const numeric: ReadonlySet<string> = new Set(['applicationPorts', 'includeInboundPorts']);

const openTelemetryAnnotations = ['service.namespace', 'service.version', 'service.instance.id'].map(
  (name) => `resource.opentelemetry.io/${name}`,
);

/** Returns the data flow of a call. An unlisted function is assumed to depend on all arguments. */
export function callReads(name: string, callArguments: readonly TracedArgument[]): CallReads {
  const [first = nothing, second = nothing] = callArguments;
  const all = union(...callArguments.map(({ paths }) => paths));
  if (name === 'annotation') {
    const value = named(memberOf(first.paths, 'Annotations'), second);
    return shows(union(value, ...callArguments.slice(2).map(({ paths }) => paths)), wholePaths(second.paths));
  }
  if (name === 'index' || name === 'get') {
    const keys = wholePaths(union(...callArguments.slice(1).map(({ paths }) => paths)));
    return shows(
      union(
        callArguments.slice(1).reduce((paths, key) => named(paths, key), first.paths),
        keys,
      ),
      keys,
    );
  }
  if (name === 'isset' || name === 'hasKey')
    return depends(union(named(first.paths, second), wholePaths(second.paths)));
  if (name === 'otelResourceAttributes') return shows(openTelemetryReads(callArguments));
  if (numeric.has(name)) return shows(noPaths);
  if (choosing.has(name)) return shows(all);
  if (deciding.has(name)) return shows(all, wholePaths(all));
  if (transparent.has(name) || (name === 'printf' && isPlainFormat(first.literal))) return shows(wholePaths(all));
  if (changing.has(name)) return { ...depends(all), kept: wholePaths(all) };
  return { ...depends(all), parsed: parsing.has(name) ? wholePaths(all) : noPaths };
}

const nothing: TracedArgument = { paths: noPaths };

/** Reports whether a format prints its arguments unchanged: no truncation (`%.3s`), no `%x`. */
function isPlainFormat(format: string | undefined): boolean {
  return format?.replace(/%[%svqdt]/g, '').includes('%') === false;
}

function shows(result: DataPaths, steering: DataPaths = noPaths): CallReads {
  return { result, steering, parsed: noPaths };
}

function depends(paths: DataPaths): CallReads {
  return { result: wholePaths(paths), steering: wholePaths(paths), parsed: noPaths };
}

function named(paths: DataPaths, key: TracedArgument): DataPaths {
  return memberOf(paths, key.literal ?? '*');
}

/** Returns the data that otelResourceAttributes reads from its arguments. */
function openTelemetryReads(callArguments: readonly TracedArgument[]): DataPaths {
  const [, annotations = nothing, labels = nothing, namespace = nothing, containers = nothing] = callArguments;
  return union(
    ...openTelemetryAnnotations.map((name) => memberOf(annotations.paths, name)),
    memberOf(labels.paths, 'app.kubernetes.io/version'),
    namespace.paths,
    memberOf(containers.paths, '*', 'Name'),
    memberOf(containers.paths, '*', 'Image'),
  );
}
