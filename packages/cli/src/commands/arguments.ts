/** Parses `key=value` by the tool's schema: text, numbers and booleans. `key:=json` is JSON. */

import type { Params } from '../client/message.ts'
import { isObject } from '../client/message.ts'
import { CommandError, exitCodes } from '../output.ts'

export function readArguments(pairs: readonly string[], schema: Params): Params {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const values: Record<string, unknown> = {}
  for (const pair of pairs) {
    const found = /^([^=:]+)(:?=)([\s\S]*)$/.exec(pair)
    if (!found) throw new CommandError(`Arguments must be key=value or key:=json, not "${pair}"`, exitCodes.usage)
    const [, key = '', sign, text = ''] = found
    values[key] = sign === ':=' ? parseJson(key, text) : parseByType(key, text, properties[key])
  }
  return values
}

function parseByType(key: string, text: string, property: unknown): unknown {
  const type = isObject(property) ? property['type'] : undefined
  const types = Array.isArray(type) ? type : [type]
  if (types.includes('string') || type === undefined) return text
  if ((types.includes('number') || types.includes('integer')) && text.trim() !== '' && !Number.isNaN(Number(text)))
    return Number(text)
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  if (types.includes('array') && !text.startsWith('[')) return text.split(',')
  return types.includes('array') || types.includes('object') ? parseJson(key, text) : text
}

function parseJson(key: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new CommandError(`${key}: "${text}" is not JSON`, exitCodes.usage)
  }
}
