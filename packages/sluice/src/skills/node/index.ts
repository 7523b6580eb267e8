/** Skills from a folder, on Node, Deno and Bun. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Skills } from '../../protocol/definition.ts'
import { skills } from '../index.ts'

export type { Skills } from '../../protocol/definition.ts'

/**
 * Reads the skills below a folder, each in a folder with a SKILL.md: `defineServer({ …, skills: folder('./skills') })`.
 * Hidden files are left out. Throws with the file and the field if a skill is not valid.
 */
export function folder(path: string): Skills {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new TypeError(`${path} is not a folder; name the folder that holds the skills`)
  return skills(Object.fromEntries(readBelow(path, '')), path)
}

function readBelow(root: string, below: string): readonly (readonly [string, Uint8Array])[] {
  return readdirSync(join(root, below), { withFileTypes: true }).flatMap((entry) => {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.name.startsWith('.') || entry.name === 'node_modules') return []
    if (entry.isDirectory()) return readBelow(root, path)
    // A link could lead out of the folder, and every caller may read what a skill holds.
    if (!entry.isFile()) throw new TypeError(`${join(root, path)} is a link or not a file; put a copy there`)
    return [[path, readFileSync(join(root, path))] as const]
  })
}
