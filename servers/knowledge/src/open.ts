/** Opens what a host runs: a folder of Markdown, an index file or, by default, Sluice's own documents. */

import { readFile, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { HostContext, OpenedServer, OpenServer, Server, ServerDefinition, Skills } from 'sluice'
import { flatInfo, knowledge } from './definition.ts'
import { type FolderChanges, openFolder } from './folder.ts'
import { fromIndex } from './index-file.ts'
import { createKnowledgeBase } from './knowledge-base.ts'
import { refresh } from './refresh.ts'
import { openSkills } from './skill-folder.ts'
import { skillsOf } from './skills.ts'
import { watchFolder } from './watch.ts'

/** The build makes it from `docs/`. */
const ownDocuments = join(import.meta.dirname, '../dist/sluice.json')

/** Opens the folder or index file named on the command line. By default it opens Sluice's own documents. */
export const open: OpenServer = async (site) => {
  const named = site.argument ?? site.env['SLUICE_KNOWLEDGE_FOLDER']
  const path = named === undefined ? ownDocuments : resolve(named)
  const found = await stat(path).catch(() => undefined)
  if (!found) throw new Error(`${path} does not exist; name a folder of Markdown files or an index file`)
  return found.isDirectory() ? serveFolder(path, site) : serveIndex(path)
}

async function serveIndex(path: string): Promise<OpenedServer> {
  const definition = load(path, await readFile(path, 'utf8'))
  return {
    definition,
    stateless: true,
    state: 'ready',
    close: async () => {},
    layers: [flatInfo(definition)],
  }
}

function load(path: string, json: string): ServerDefinition {
  try {
    const index = parse(json)
    return knowledge(fromIndex(index), skillsOf(index))
  } catch (thrown) {
    throw new Error(`${path}: ${thrown instanceof Error ? thrown.message : thrown}`)
  }
}

async function serveFolder(path: string, { env, logger, clock }: HostContext): Promise<OpenedServer> {
  const read = openFolder(path)
  const reading = await read()
  const base = createKnowledgeBase(env['SLUICE_KNOWLEDGE_TITLE'] || basename(path), reading.put)
  let skills = openSkills(path)
  const definition = knowledge(base, skills)
  const complained = new Set<string>()
  let unwatch = (): void => {}
  logger.info({ event: 'articles', visible: base.articles.length, hidden: reading.hidden.length })
  for (const why of reading.hidden) logger.info({ event: 'article hidden', why })
  complain(reading)

  /** Logs each problem once, because the folder is read often. */
  function complain({ problems }: Pick<FolderChanges, 'problems'>): void {
    for (const problem of problems) if (!complained.has(problem)) logger.warn({ event: 'article left out', problem })
    complained.clear()
    for (const problem of problems) complained.add(problem)
  }
  async function reload(server: Server): Promise<void> {
    try {
      const changes = await read()
      const { found, problem } = reopenSkills(path, skills)
      complain({ problems: problem === undefined ? changes.problems : [...changes.problems, problem] })
      const changed = entriesOf(found) !== entriesOf(skills)
      skills = found
      refresh(base, changes, server, { current: skills, changed })
    } catch (thrown) {
      complain({ problems: [`${path} cannot be read (${thrown instanceof Error ? thrown.message : thrown})`] })
    }
  }
  return {
    definition,
    stateless: true,
    state: stateOf(path, reading, base.articles.length),
    started(server) {
      unwatch = watchFolder(path, clock, () => reload(server))
    },
    close: async () => unwatch(),
    layers: [flatInfo(definition)],
  }
}

/** While the server runs, skills that became invalid stay as they were, and the log names the file and the field. */
function reopenSkills(
  path: string,
  before: Skills | undefined,
): { readonly found: Skills | undefined; readonly problem?: string } {
  try {
    return { found: openSkills(path) }
  } catch (thrown) {
    return { found: before, problem: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}

const entriesOf = (skills: Skills | undefined): string => JSON.stringify(skills?.resources.map(({ entry }) => entry))

/** Reasons in the start-up message; the log has all of them. */
const maxReasons = 3

/** Says at start what is left out and why, so that a missing page does not look like a failed search. */
function stateOf(path: string, { put, problems, hidden }: FolderChanges, visible: number): string {
  const reasons = [...problems, ...hidden]
  if (reasons.length === 0) return put.length === 0 ? `no articles yet; put Markdown files into ${path}` : 'ready'
  const more = reasons.length - maxReasons
  return [
    `${visible} ${visible === 1 ? 'article' : 'articles'}; `,
    reasons.length === 1 ? 'a file is left out: ' : `${reasons.length} files are left out: `,
    reasons.slice(0, maxReasons).join('; '),
    more > 0 ? `; and ${more} more, which the log names` : '',
  ].join('')
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
