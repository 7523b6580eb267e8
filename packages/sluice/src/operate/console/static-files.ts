/** The page itself: a few files, built ahead, read once and kept with their compressed form. */

import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { noStore } from './headers.ts'

export interface StaticFile {
  readonly body: Buffer
  readonly gzip: Buffer
  readonly headers: { readonly [name: string]: string }
}
/** By path without the leading slash; `` is the page. */
export type StaticFiles = ReadonlyMap<string, StaticFile>

const contentTypes: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The same from the sources, from what `tsc` made and from the bundle: all three are this deep. */
const builtFolder = fileURLToPath(new URL('../../../lib/console/', import.meta.url))

export function readStaticFiles(folder: string = builtFolder): StaticFiles {
  const files = new Map<string, StaticFile>()
  for (const name of namesIn(folder)) {
    const type = contentTypes[extname(name)]
    if (type === undefined) continue
    const body = readFileSync(join(folder, name))
    const isPage = name === 'index.html'
    // Names of assets hold a hash of their content; what they are named in is never kept.
    const keep = isPage ? noStore : { 'cache-control': 'public, max-age=31536000, immutable' }
    const file = { body, gzip: gzipSync(body, { level: 9 }), headers: { 'content-type': type, ...keep } }
    files.set(isPage ? '' : name.replaceAll('\\', '/'), file)
  }
  if (!files.has('')) throw new Error('The console page is not built: run "npm run build" first')
  return files
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
  } catch {
    return []
  }
}
