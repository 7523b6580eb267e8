/** Finds the source files of a folder. Links are not followed, so that nothing outside the folder is read. */

import { readdir, realpath, stat } from 'node:fs/promises'
import { delimiter, extname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { Language } from './languages.ts'
import { languages } from './languages.ts'

export interface SourceFile {
  /** Relative to the folder, with `/`. */
  readonly path: string
  readonly language: Language
}
export interface FileOptions {
  readonly languages: readonly string[]
  readonly recursive: boolean
  readonly maxFileSize: number
  readonly includeTests: boolean
}
export interface FoundFiles {
  readonly files: readonly SourceFile[]
  readonly tooLarge: number
  readonly isTruncated: boolean
}

/** Files in one call. */
const maxFiles = 10_000
/** Folders of libraries and of generated code. */
const skipped = new Set(
  'node_modules dist build out target vendor coverage __pycache__ venv env site-packages'.split(' '),
)
const testPath = /(?:^|\/)(?:tests?|__tests__|specs?)\/|[._-](?:test|spec)\.[a-z]+$|(?:^|\/)test_[^/]*$/i

/** Reads the folders that an operator allows, separated as in PATH. */
export const codeFolders = (setting: string | undefined): readonly string[] =>
  (setting ?? '').split(delimiter).filter((folder) => folder !== '')

/** Returns the real path of the folder, or `undefined` if it does not exist or is not inside an allowed one. */
export async function allowedFolder(folder: string, allowed: readonly string[]): Promise<string | undefined> {
  const real = await realpath(resolve(folder)).catch(() => undefined)
  if (real === undefined || !(await stat(real)).isDirectory()) return undefined
  for (const each of allowed) {
    const root = await realpath(resolve(each)).catch(() => undefined)
    if (root !== undefined && isInside(real, root)) return real
  }
  return undefined
}

const isInside = (path: string, root: string): boolean => {
  const way = relative(root, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

export async function findFiles(root: string, options: FileOptions): Promise<FoundFiles> {
  const wanted = languages.filter(({ name }) => options.languages.length === 0 || options.languages.includes(name))
  const byExtension = new Map(wanted.flatMap((language) => language.extensions.map((end) => [`.${end}`, language])))
  const files: SourceFile[] = []
  let tooLarge = 0
  async function walk(below: string): Promise<void> {
    const entries = await readdir(join(root, below), { withFileTypes: true }).catch(() => [])
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (files.length >= maxFiles) return
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.name.startsWith('.')) continue
      if (entry.isDirectory()) {
        if (options.recursive && !skipped.has(entry.name)) await walk(path)
        continue
      }
      const language = byExtension.get(extname(entry.name).toLowerCase())
      if (!entry.isFile() || !language || (!options.includeTests && testPath.test(path))) continue
      const { size } = await stat(join(root, path)).catch(() => ({ size: 0 }))
      if (size > options.maxFileSize) tooLarge++
      else files.push({ path, language })
    }
  }
  await walk('')
  return { files, tooLarge, isTruncated: files.length >= maxFiles }
}
