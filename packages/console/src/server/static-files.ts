/** The files of the page. They are built ahead, read once, and kept in memory with their compressed form. */

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
/** The files by path, without the leading slash. The empty path is the page. */
export type StaticFiles = ReadonlyMap<string, StaticFile>

const contentTypes: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The same path for the sources, the output of `tsc` and the bundle, because all three have the same depth. */
const builtFolder = fileURLToPath(new URL('../../lib/page/', import.meta.url))

export function readStaticFiles(folder: string = builtFolder): StaticFiles {
  const files = new Map<string, StaticFile>()
  for (const name of namesIn(folder)) {
    const type = contentTypes[extname(name)]
    if (type === undefined) continue
    const body = readFileSync(join(folder, name))
    const isPage = name === 'index.html'
    // Asset names contain a hash of their content. The page that names them is never cached.
    const caching = isPage ? noStore : { 'cache-control': 'public, max-age=31536000, immutable' }
    const file = { body, gzip: gzipSync(body, { level: 9 }), headers: { 'content-type': type, ...caching } }
    files.set(isPage ? '' : name.replaceAll('\\', '/'), file)
  }
  if (!files.has('')) throw new Error('The console page is not built: run "npm run build"')
  return files
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
  } catch {
    return []
  }
}
