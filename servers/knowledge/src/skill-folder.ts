/** The folder `skills` beside the articles: folders with a SKILL.md, which agents get as skills and not as articles. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Skills } from 'sluice'
import type { SkillFiles } from 'sluice/skills'
import { folder, readSkillFiles } from 'sluice/skills-node'

/** The name of the folder. One without a SKILL.md in its folders holds articles, like any other. */
export const skillFolder = 'skills'

export function holdsSkills(root: string): boolean {
  try {
    return readdirSync(join(root, skillFolder), { recursive: true, encoding: 'utf8' }).some((file) =>
      /[\\/]SKILL\.md$/.test(file),
    )
  } catch {
    return false
  }
}

/** Throws with the file and the field if a skill is not valid. `undefined` if there are none. */
export const openSkills = (root: string): Skills | undefined =>
  holdsSkills(root) ? folder(join(root, skillFolder)) : undefined

export const readSkills = (root: string): SkillFiles | undefined =>
  holdsSkills(root) ? readSkillFiles(join(root, skillFolder)) : undefined
