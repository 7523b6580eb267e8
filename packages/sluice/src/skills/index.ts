/**
 * Skills: folders of instructions that a server offers beside its tools. They run anywhere; `sluice/skills-node` reads
 * a folder.
 */

import type { Params } from '../core/json.ts'
import { sha256 } from '../core/sha256.ts'
import type { Skills } from '../protocol/definition.ts'
import { extendMethods } from '../protocol/extend-registry.ts'
import type { Resource } from '../protocol/resources.ts'
import { resource } from '../protocol/resources.ts'
import { extension, skillMethods } from './methods.ts'
import type { Skill, SkillFile, SkillFiles } from './skill.ts'
import { parseSkills, toText, toUri } from './skill.ts'

export type { SkillFiles } from './skill.ts'

/**
 * Makes skills of files: `skills({ 'pdf/SKILL.md': text, 'pdf/scripts/fill.py': bytes })`, for the option "skills" of
 * `defineServer`. Throws with the file and the field if one is not valid. `where` names the folder in these messages.
 */
export function skills(files: SkillFiles, where = 'skills'): Skills {
  const parsed = parseSkills(files, where)
  const served = new Map(parsed.files.map((file) => [file.path, toServed(file)]))
  const directories = toDirectories(parsed.skills, [...served.values()])
  return {
    resources: toResources(parsed.skills, parsed.files, served),
    extendRegistry: (registry, pageSize, ttlMs = 0) =>
      extendMethods(registry, {
        ...{ extension, settings: { directoryRead: true }, readOnly: true },
        methods: skillMethods(parsed.skills, directories, { pageSize, ttlMs }),
      }),
  }
}

interface ServedFile {
  readonly entry: { readonly uri: string; readonly name: string; readonly mimeType: string; readonly size: number }
  readonly path: string
  readonly contents: string | Uint8Array
}

function toServed({ uri, path, bytes }: SkillFile): ServedFile {
  const text = toText(bytes)
  const mimeType = mediaTypeOf(path, text !== undefined)
  const name = path.slice(path.lastIndexOf('/') + 1)
  return { path, contents: text ?? bytes, entry: { uri, name, mimeType, size: bytes.length } }
}

/** Lists show each SKILL.md. The files beside it are read through one template, and found through the skill. */
function toResources(
  found: readonly Skill[],
  files: readonly SkillFile[],
  served: ReadonlyMap<string, ServedFile>,
): readonly Resource[] {
  const mains = found.map(({ uri, frontmatter: { name, description } }) => {
    const file = [...served.values()].find(({ entry }) => entry.uri === uri)
    return resource({
      ...{ uri, name, description, mimeType: 'text/markdown' },
      ...(file && { size: file.entry.size }),
      read: () => file?.contents,
    })
  })
  const others = resource({
    uri: 'skill://{+path}',
    name: 'skill-files',
    description: 'The files of the skills of this server.',
    // Changes with every file, so that an update notifies clients although no SKILL.md changed.
    meta: { 'dev.sluice/digest': `sha256:${sha256(files.map(({ uri, digest }) => `${uri} ${digest}\n`).join(''))}` },
    read({ path }) {
      const file = served.get(String(path))
      if (!file) return undefined
      const { contents, entry } = file
      const { mimeType } = entry
      return typeof contents === 'string' ? { mimeType, text: contents } : { mimeType, blob: contents }
    },
  })
  return [...mains, others]
}

/** The children of every directory of every skill, files and directories, by the URI of the directory. */
function toDirectories(found: readonly Skill[], served: readonly ServedFile[]): ReadonlyMap<string, readonly Params[]> {
  const roots = found.map(({ uri }) => uri.slice(0, -'/SKILL.md'.length))
  const children = new Map<string, Map<string, Params>>()
  const isInside = (uri: string): boolean => roots.some((root) => uri === root || uri.startsWith(`${root}/`))
  for (const { path, entry } of served) {
    let child: Params = entry
    for (let parts = path.split('/').slice(0, -1); isInside(toUri(parts.join('/'))); parts = parts.slice(0, -1)) {
      const uri = toUri(parts.join('/'))
      const inside = children.get(uri) ?? new Map<string, Params>()
      children.set(uri, inside.set(String(child['uri']), child))
      child = { uri, name: parts.at(-1), mimeType: 'inode/directory' }
    }
  }
  return new Map([...children].map(([uri, inside]) => [uri, [...inside.values()]]))
}

/** Media types of the files that skills have. Others are plain text, or bytes. */
const mediaTypes: { readonly [extension: string]: string } = {
  md: 'text/markdown',
  json: 'application/json',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  csv: 'text/csv',
  html: 'text/html',
  css: 'text/css',
  js: 'text/javascript',
  mjs: 'text/javascript',
  py: 'text/x-python',
  sh: 'application/x-sh',
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
}

function mediaTypeOf(path: string, isText: boolean): string {
  const extension = path.slice(path.lastIndexOf('.') + 1).toLowerCase()
  if (Object.hasOwn(mediaTypes, extension)) return mediaTypes[extension] ?? ''
  return isText ? 'text/plain' : 'application/octet-stream'
}
