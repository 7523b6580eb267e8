/** Describes why a module did not load: the file, the line number and the line, as the author sees them in an editor. */

import { readFileSync } from 'node:fs'
import { dirname, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { escapeControls } from '../output.ts'

interface Place {
  readonly file: string
  readonly line: number
}

/** Returns `text.ts:3: hi is not defined`, and below it the third line of that file. `module` is the path that was given. */
export function describeModuleError(thrown: unknown, module: string, cwd: string): string {
  if (!(thrown instanceof Error)) return escapeControls(String(thrown))
  const place = placeOf(thrown, `${dirname(resolve(cwd, module))}${sep}`)
  if (!place) return escapeControls(thrown.message)
  const near = relative(cwd, place.file)
  const text = sourceOf(place.file).split('\n')[place.line - 1]?.trim() ?? ''
  const head = `${near.startsWith('..') ? place.file : near}:${place.line}: ${thrown.message}`
  return escapeControls(text === '' ? head : `${head}\n    ${text}`)
}

/** A file or a URL, with the version that a reload adds. */
const path = String.raw`((?:file:\/\/)?\/[^\n?]*?)(?:\?v=\d+)?`
/** The first line of a syntax error’s stack. */
const head = new RegExp(`^${path}:(\\d+)\\n`)
/** A frame. Those of Node begin with `node:`. */
const frame = new RegExp(`^\\s+at (?:.*\\()?${path}:(\\d+):\\d+\\)?$`)
const missing = /^Cannot find (?:package|module) '([^']+)' imported from (.+)$/

function placeOf({ stack = '', message }: Error, folder: string): Place | undefined {
  const [, specifier = '', importer] = missing.exec(message) ?? []
  if (importer !== undefined) return importOf(specifier, importer.replace(/\?v=\d+$/, ''))
  const places = [head.exec(stack), ...stack.split('\n').map((line) => frame.exec(line))].flatMap((found) =>
    found ? [{ file: fileOf(found[1] ?? ''), line: Number(found[2]) }] : [],
  )
  // The first place in the author’s own code, because an error of a library is caused there.
  const own = places.filter(({ file }) => !file.includes(`${sep}node_modules${sep}`))
  return own.find(({ file }) => file.startsWith(folder)) ?? own[0]
}

const fileOf = (place: string): string => (place.startsWith('file:') ? fileURLToPath(place) : place)

/** Finds the line that imports a module. Node names only the file. A missing file is named by its absolute path. */
function importOf(specifier: string, importer: string): Place {
  const file = fileOf(importer)
  const end = specifier.split('/').at(-1) ?? specifier
  const at = sourceOf(file)
    .split('\n')
    .findIndex((line) => /\b(import|from|require)\b/.test(line) && line.includes(end))
  return { file, line: Math.max(at, 0) + 1 }
}

function sourceOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
