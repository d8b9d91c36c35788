import { goFunction, type FunctionTable } from '../go/go-function.ts';
import { boolType, intType, pointerTo, stringType } from '../../go-type.ts';
import type { GoMethod, GoType, StructType } from '../../go-type.ts';
import { string } from '../../exec/parameters.ts';
import { TypedValue } from '../../typed-value.ts';
import { compareVersions, formatVersion, parseVersion, type SemanticVersion } from './semantic-version.ts';
import { satisfies } from './version-constraint.ts';

const uint64Type: GoType = { kind: 'uint64' };

/** Makes a method that returns a property of the version. */
function property(result: GoType, read: (version: SemanticVersion) => unknown): GoMethod {
  return { result, call: (raw) => read(raw as SemanticVersion) };
}

/** Makes a method for the next version. The `original` of the result keeps the v. */
function next(change: (version: SemanticVersion) => Pick<SemanticVersion, 'major' | 'minor' | 'patch'>): GoMethod {
  return property(lazyVersion, (version) => {
    const changed = { ...change(version), prerelease: '', metadata: '' };
    return { ...changed, original: (version.original.startsWith('v') ? 'v' : '') + formatVersion(changed) };
  });
}

function comparison(result: GoType, answer: (compared: number) => unknown): GoMethod {
  return {
    parameters: [pointerTo(lazyVersion)],
    pointerReceiver: true,
    result,
    call: (raw, other) => answer(compareVersions(raw as SemanticVersion, (other as TypedValue).raw as SemanticVersion)),
  };
}

/** The type of versions. A getter returns the methods, because methods refer to this type. */
const lazyVersion: StructType = {
  kind: 'struct',
  name: 'semver.Version',
  fields: [
    { name: 'major', json: 'major', type: uint64Type },
    { name: 'minor', json: 'minor', type: uint64Type },
    { name: 'patch', json: 'patch', type: uint64Type },
    { name: 'pre', json: 'prerelease', type: stringType },
    { name: 'metadata', json: 'metadata', type: stringType },
    { name: 'original', json: 'original', type: stringType },
  ],
  toJson: (raw) => JSON.stringify(formatVersion(raw as SemanticVersion)),
  get methods() {
    return methods;
  },
};

const methods: Readonly<Record<string, GoMethod>> = {
  String: property(stringType, formatVersion),
  Original: { ...property(stringType, ({ original }) => original), pointerReceiver: true },
  Major: property(uint64Type, ({ major }) => major),
  Minor: property(uint64Type, ({ minor }) => minor),
  Patch: property(uint64Type, ({ patch }) => patch),
  Prerelease: property(stringType, ({ prerelease }) => prerelease),
  Metadata: property(stringType, ({ metadata }) => metadata),
  IncMajor: next(({ major }) => ({ major: major + 1n, minor: 0n, patch: 0n })),
  IncMinor: next(({ major, minor }) => ({ major, minor: minor + 1n, patch: 0n })),
  IncPatch: next(({ major, minor, patch, prerelease }) => ({
    major,
    minor,
    patch: prerelease === '' ? patch + 1n : patch,
  })),
  Compare: comparison(intType, (compared) => compared),
  Equal: comparison(boolType, (compared) => compared === 0),
  GreaterThan: comparison(boolType, (compared) => compared > 0),
  GreaterThanEqual: comparison(boolType, (compared) => compared >= 0),
  LessThan: comparison(boolType, (compared) => compared < 0),
  LessThanEqual: comparison(boolType, (compared) => compared <= 0),
};

export const versionFunctions: FunctionTable = {
  semver: goFunction([string], (text) => new TypedValue(pointerTo(lazyVersion), parseVersion(text))),
  semverCompare: goFunction([string, string], satisfies),
};
