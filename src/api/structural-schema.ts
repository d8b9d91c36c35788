const largestInt32 = 2 ** 31 - 1;

/** JSON Schema as OpenAPI 3.0 has it. */
export type JsonSchema = Record<string, unknown>;

/**
 * Turns what zod says into what apiextensions.k8s.io/v1 accepts as a structural schema: no `additionalProperties: false` (the API server
 * drops unknown fields instead), no rule about a map's keys, integers with a format. To be used as `override` of z.toJSONSchema.
 */
export function structuralSchema({ jsonSchema }: { jsonSchema: object }): void {
  const schema = jsonSchema as JsonSchema;
  const { additionalProperties } = schema;
  if (additionalProperties === false || schema['x-kubernetes-preserve-unknown-fields'] === true) {
    delete schema.additionalProperties;
  }
  delete schema.propertyNames;
  if (schema.type === 'number' && Array.isArray(schema.enum)) schema.type = 'integer';
  if (schema.type === 'integer') {
    const short = Array.isArray(schema.enum) || Number(schema.maximum) <= largestInt32;
    schema.format = short ? 'int32' : 'int64';
  }
}
