/** Skills from a folder, on Node, Deno and Bun. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Skills } from '../../protocol/definition.ts'
import { skills } from '../index.ts'
import type { SkillFiles } from '../skill.ts'

/**
 * Reads the skills below a folder, each in a folder with a SKILL.md: `defineServer({ …, skills: folder('./skills') })`.
 * Hidden files are left out. Throws with the file and the field if a skill is not valid.
 */
export const folder = (path: string): Skills => skills(readSkillFiles(path), path)

/** Reads the files below a folder for `skills()`, so that a build can put them into one file for the edge. */
export function readSkillFiles(path: string): SkillFiles {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new TypeError(`${path} is not a folder; name the folder that holds the skills`)
  return Object.fromEntries(readBelow(path, ''))
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
