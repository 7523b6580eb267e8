/** Skills in an index file: texts as they are, other bytes as base64. Runs on the edge too. */

import type { Skills } from 'sluice'
import type { SkillFiles } from 'sluice/skills'
import { skills } from 'sluice/skills'
import type { PackedSkillFiles } from './index-file.ts'
import { isIndex } from './index-file.ts'

export const packSkills = (files: SkillFiles): PackedSkillFiles =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [path, packFile(content)]))

function packFile(content: string | Uint8Array): PackedSkillFiles[string] {
  if (typeof content === 'string') return content
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
  } catch {
    return { base64: btoa(Array.from(content, (byte) => String.fromCharCode(byte)).join('')) }
  }
}

/** Returns the skills of an index file; `undefined` if it has none. */
export const skillsOf = (index: unknown): Skills | undefined =>
  isIndex(index) && index.skills ? unpackSkills(index.skills) : undefined

/** Throws with the file and the field if a skill is not valid. */
export function unpackSkills(packed: PackedSkillFiles): Skills {
  const files = Object.entries(packed).map(([path, content]) => [
    path,
    typeof content === 'string'
      ? content
      : Uint8Array.from(atob(content.base64), (character) => character.charCodeAt(0)),
  ])
  return skills(Object.fromEntries(files))
}
