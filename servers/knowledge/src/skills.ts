/** Skills in an index file: texts as they are, other bytes as base64. Runs on the edge too. */

import type { Skills } from 'sluice'
import type { SkillFiles } from 'sluice/skills'
import { skills } from 'sluice/skills'
import type { PackedSkillFiles } from './index-file.ts'

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
export function skillsOf({ skills: packed }: { readonly skills?: PackedSkillFiles }): Skills | undefined {
  if (!packed) return undefined
  const files = Object.entries(packed).map(([path, content]) => [
    path,
    typeof content === 'string'
      ? content
      : Uint8Array.from(atob(content.base64), (character) => character.charCodeAt(0)),
  ])
  return skills(Object.fromEntries(files))
}
