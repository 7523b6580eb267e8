/** Reads the YAML at the top of a SKILL.md. It leaves as JSON with every field, because clients compare the two. */

import { isMap, LineCounter, parseDocument } from 'yaml'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'

/** Returns the fields. Throws with a message that starts after the name of the file. */
export function parseFrontmatter(markdown: string): Params {
  const yaml = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(markdown)?.[1]
  if (yaml === undefined) throw new TypeError('begin the file with "---", its fields, and another "---"')
  const lineCounter = new LineCounter()
  const document = parseDocument(yaml, { schema: 'core', lineCounter })
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) {
    const [reason = ''] = problem.message.split(/ at line |\n/)
    // The fields begin on the second line of the file.
    throw new TypeError(`line ${lineCounter.linePos(problem.pos[0]).line + 1}: ${reason}`)
  }
  if (!isMap(document.contents)) throw new TypeError('the fields between the "---" lines must be "key: value"')
  const fields: unknown = document.toJS({ maxAliasCount: 100 })
  assertJson(fields, '')
  if (!isObject(fields)) throw new TypeError('the fields between the "---" lines must be "key: value"')
  return fields
}

/** Refuses what YAML has and JSON lacks: another value would leave than the file has. */
function assertJson(value: unknown, at: string): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`"${at}" must be a finite number`)
  if (typeof value === 'bigint' || typeof value === 'undefined') throw new TypeError(`"${at}" must be a JSON value`)
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    // Clients refuse it, because a careless parser would make it the prototype.
    if (key === '__proto__') throw new TypeError('"__proto__" is not a name for a field')
    assertJson(member, at === '' ? key : `${at}.${key}`)
  }
}
