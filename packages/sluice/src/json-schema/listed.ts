/** The form in which a schema is listed, which clients of every revision accept. */

import { isObject } from '../core/json.ts'

/** Writes `true` and `false` among the properties as objects. Before 2026-07-28 clients refuse a whole list over one. */
export function withObjectProperties(schema: Record<string, unknown>): Record<string, unknown> {
  const { properties } = schema
  if (!isObject(properties)) return schema
  const objects = Object.entries(properties).map(([name, property]) => [
    name,
    property === true ? {} : property === false ? { not: {} } : property,
  ])
  return { ...schema, properties: Object.fromEntries(objects) }
}
