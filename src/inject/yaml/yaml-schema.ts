import { Schema, Type, type TypeConstructorOptions } from 'js-yaml';
import { PlaceDependent, resolvePlain } from './plain-scalar.ts';

/**
 * What tags mean to Go's yaml.v2: those of YAML 1.1's scalars as usual; any other tag is ignored. Plain scalars without a tag are all resolved by
 * one type: js-yaml asks each type of its list in turn, and most scalars are strings.
 */
export const goSchema = new Schema({
  implicit: [scalar('tag:yaml.org,2002:plain', (text) => resolvePlain(text))],
  explicit: [
    scalar('tag:yaml.org,2002:str', (text) => text),
    scalar('tag:yaml.org,2002:int', (text) => only(isInteger, resolvePlain(text))),
    scalar('tag:yaml.org,2002:float', (text) => only(isNumber, resolvePlain(text))),
    scalar('tag:yaml.org,2002:bool', (text) => only(isBoolean, resolvePlain(text))),
    scalar('tag:yaml.org,2002:null', (text) => only(isNull, resolvePlain(text))),
    scalar('tag:yaml.org,2002:timestamp', (text) => (/^\d{4}-\d{1,2}-\d{1,2}/.test(text) ? text : undefined)),
    scalar('tag:yaml.org,2002:binary', decodeBase64),
    scalar('tag:yaml.org,2002:merge', (text) => (text === '<<' ? resolvePlain(text) : undefined)),
    ...(['scalar', 'sequence', 'mapping'] as const).flatMap((kind) =>
      ['!', 'tag:'].map((prefix) => new Type(prefix, { kind, multi: true, construct: keep })),
    ),
  ],
});

/** A scalar type; `construct` gives `undefined` for a text that is none of the type's. */
function scalar(tag: string, construct: (text: string) => unknown): Type {
  const options: TypeConstructorOptions = {
    kind: 'scalar',
    resolve: (text: string | null) => construct(text ?? '') !== undefined,
    construct: (text: string | null) => construct(text ?? ''),
  };
  return new Type(tag, options);
}

/** A tag without a value stands for an empty text. */
function keep(value: unknown): unknown {
  return value ?? '';
}

function only(is: (value: unknown) => boolean, value: unknown): unknown {
  return is(value) ? value : undefined;
}

function isInteger(value: unknown): boolean {
  return typeof value === 'number';
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || (value instanceof PlaceDependent && typeof value.value === 'number');
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean';
}

function isNull(value: unknown): boolean {
  return value instanceof PlaceDependent && value.value === null;
}

function decodeBase64(text: string): string | undefined {
  const valid = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text);
  return valid ? Buffer.from(text, 'base64').toString('utf8') : undefined;
}
