/** `sluice-knowledge build` turns a folder of Markdown into one file that is served without a file system. */

import { writeFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Command } from 'sluice/main'
import type { SkillFiles } from 'sluice/skills'
import { openFolder } from './folder.ts'
import type { Index } from './index-file.ts'
import { createKnowledgeBase } from './knowledge-base.ts'
import { readSkills } from './skill-folder.ts'
import { packSkills, unpackSkills } from './skills.ts'

export const build: Command = {
  usage: ['<folder> [--out knowledge.json] [--title "About what"]', 'make one index file for the edge'],
  async run(argv) {
    const options = { out: { type: 'string', default: 'knowledge.json' }, title: { type: 'string' } } as const
    const { values, positionals } = parseArgs({ args: [...argv], allowPositionals: true, options })
    const [folder, more] = positionals
    if (folder === undefined || more !== undefined) throw new Error(`usage: build ${build.usage[0]}`)
    const { put, problems, hidden } = await openFolder(folder)()
    // An incomplete set of articles would look complete once it is deployed.
    if (problems.length > 0)
      throw new Error(
        `nothing was written; fix these files first:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
      )
    const base = createKnowledgeBase(values.title ?? basename(resolve(folder)), put)
    const skills = packed(readSkills(folder))
    const json = JSON.stringify({ ...base.toIndex(), ...skills })
    await writeFile(values.out, json)
    const leftOut = hidden.length > 0 ? `; ${counted(hidden.length, 'hidden article')} left out:` : ''
    const size = `${Math.ceil(json.length / 1024)} KB`
    process.stderr.write(`${values.out}: ${counted(base.articles.length, 'article')}, ${size}${leftOut}\n`)
    for (const why of hidden) process.stderr.write(`  ${why}\n`)
  },
}

/** Fails the build if a skill is not valid. */
function packed(files: SkillFiles | undefined): Pick<Index, 'skills'> {
  if (!files) return {}
  const skills = packSkills(files)
  unpackSkills(skills)
  return { skills }
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
