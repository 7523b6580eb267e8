/** Computes the types of the API from its schemas. */

import type { ConsoleSchemas } from './index.ts'

/** The TypeScript type of a schema. */
export type FromSchema<S> = S extends { readonly $ref: infer Name extends keyof ConsoleSchemas }
  ? FromSchema<ConsoleSchemas[Name]>
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly type: 'string' }
      ? string
      : S extends { readonly type: 'number' | 'integer' }
        ? number
        : S extends { readonly type: 'boolean' }
          ? boolean
          : S extends { readonly type: 'array'; readonly items: infer Items }
            ? readonly FromSchema<Items>[]
            : S extends { readonly additionalProperties: infer Value }
              ? { readonly [name: string]: FromSchema<Value> }
              : S extends { readonly properties: infer Properties }
                ? ObjectFields<Properties, S extends { readonly required: readonly (infer R)[] } ? R : never>
                : unknown
type ObjectFields<P, Required> = {
  readonly [Name in keyof P as Name extends Required ? Name : never]: FromSchema<P[Name]>
} & { readonly [Name in keyof P as Name extends Required ? never : Name]?: FromSchema<P[Name]> }
