/**
 * Finds the skills among files, and checks them: a directory with a SKILL.md is a skill. A bad one fails here, at the
 * start, with its file and field, because a client that finds it later can only ignore it.
 *
 * https://modelcontextprotocol.io/seps/2640-skills-extension
 */

import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { sha256 } from '../core/sha256.ts'
import { parseFrontmatter } from './frontmatter.ts'

/** The files of one or more skills, by their path below the folder that holds the skills: `pdf/SKILL.md`. */
export type SkillFiles = { readonly [path: string]: string | Uint8Array }

/** A file, as `resources/read` and `skills/list` need it. */
export interface SkillFile {
  readonly uri: string
  readonly path: string
  readonly bytes: Uint8Array
  readonly digest: string
}
export interface Skill {
  readonly uri: string
  readonly frontmatter: { readonly name: string; readonly description: string } & Params
  readonly resources: readonly { readonly uri: string; readonly digest: string; readonly size: number }[]
}

/** The limits of the specification: a client need not accept a larger skill. */
const maxFiles = 512
const maxBytes = 16 * 1024 * 1024
const legalName = /^(?!.*--)[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/
const maxDescription = 1024
const maxCompatibility = 500

export const toUri = (path: string): string => `skill://${path.split('/').map(encodeURIComponent).join('/')}`

const encoder = new TextEncoder()

/** `where` is the folder's name, for messages. */
export function parseSkills(
  files: SkillFiles,
  where: string,
): { readonly skills: readonly Skill[]; readonly files: readonly SkillFile[] } {
  const all = Object.entries(files)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, content]): SkillFile => {
      assertPath(path)
      const bytes = typeof content === 'string' ? encoder.encode(content) : content
      return { uri: toUri(path), path, bytes, digest: `sha256:${sha256(bytes)}` }
    })
  const roots = all.flatMap(({ path }) => (path.endsWith('/SKILL.md') ? [path.slice(0, -'SKILL.md'.length)] : []))
  const stray = all.find(({ path }) => path === 'SKILL.md')
  if (stray) throw new TypeError(`${where}/SKILL.md: move it into a folder that has the name of the skill`)
  if (roots.length === 0) throw new TypeError(`${where}: no skill found; a skill is a folder with a SKILL.md`)
  const names = new Map<string, string>()
  const skills = roots.map((root) => {
    const own = all.filter(({ path }) => path.startsWith(root))
    const skill = parseSkill(root, own, `${where}/${root}`)
    const other = names.get(skill.frontmatter.name)
    if (other !== undefined)
      throw new TypeError(`${where}/${root}SKILL.md: "name" is taken by ${where}/${other}SKILL.md; rename one of them`)
    names.set(skill.frontmatter.name, root)
    return skill
  })
  // Files outside of all skills, such as a README, are not served.
  return { skills, files: all.filter(({ path }) => roots.some((root) => path.startsWith(root))) }
}

/** The path becomes a URI, so it has no empty or relative segments; the first segment stands where a host would. */
function assertPath(path: string): void {
  const segments = path.split('/')
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..') || path.includes('\\'))
    throw new TypeError(`"${path}" is not a relative path with "/" between its parts`)
  if (segments.length > 1 && !/^[A-Za-z0-9._~-]+$/.test(segments[0] ?? ''))
    throw new TypeError(`"${path}": the first folder may have letters, digits, "-", ".", "_" and "~" in its name`)
}

function parseSkill(root: string, files: readonly SkillFile[], where: string): Skill {
  const main = files.find(({ path }) => path === `${root}SKILL.md`)
  if (!main) throw new TypeError(`${where}SKILL.md is missing`)
  if (files.length > maxFiles) throw new TypeError(`${where}: ${files.length} files; a skill has at most ${maxFiles}`)
  const size = files.reduce((sum, { bytes }) => sum + bytes.length, 0)
  if (size > maxBytes) throw new TypeError(`${where}: ${size} bytes; a skill has at most ${maxBytes}`)
  const invalid = (problem: string): TypeError => new TypeError(`${where}SKILL.md: ${problem}`)
  const text = toText(main.bytes)
  if (text === undefined) throw invalid('the file must be UTF-8')
  let fields: Params
  try {
    fields = parseFrontmatter(text)
  } catch (thrown) {
    throw invalid(thrown instanceof Error ? thrown.message : String(thrown))
  }
  const { name, description, metadata, compatibility } = fields
  const folder = root.split('/').at(-2)
  if (typeof name !== 'string' || !legalName.test(name))
    throw invalid('"name" must have 1 to 64 lower-case letters, digits and single "-" between them')
  if (name !== folder) throw invalid(`"name" is "${name}", but its folder is "${folder}"; make them equal`)
  if (typeof description !== 'string' || description.trim() === '')
    throw invalid('"description" must say what the skill does and when to use it')
  if (description.length > maxDescription) throw invalid(`"description" has more than ${maxDescription} characters`)
  // Clients refuse the whole list over these two.
  if (compatibility !== undefined && !isShortText(compatibility))
    throw invalid(`"compatibility" must be a text of at most ${maxCompatibility} characters`)
  if (metadata !== undefined && !isTextMap(metadata))
    throw invalid('"metadata" must have texts as values; write numbers and dates in quotes')
  const reserved = Object.keys(metadata ?? {}).find((key) => key.startsWith('io.modelcontextprotocol/'))
  if (reserved !== undefined) throw invalid(`"metadata.${reserved}" is reserved for the protocol`)
  return {
    uri: main.uri,
    frontmatter: { ...fields, name, description },
    resources: files.map(({ uri, digest, bytes }) => ({ uri, digest, size: bytes.length })),
  }
}

const isShortText = (value: unknown): boolean =>
  typeof value === 'string' && value !== '' && value.length <= maxCompatibility
const isTextMap = (value: unknown): boolean =>
  isObject(value) && Object.values(value).every((member) => typeof member === 'string')

/** Returns the text if decoding loses nothing, so that its digest is still that of the bytes. */
export function toText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
