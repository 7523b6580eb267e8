/** The page itself: a few files, built ahead, read once and kept with their compressed form. */

import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { unkept } from './headers.ts'

export interface File {
  readonly body: Buffer
  readonly gzip: Buffer
  readonly headers: { readonly [name: string]: string }
}
/** By path without the leading slash; `` is the page. */
export type Files = ReadonlyMap<string, File>

const types: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The same from the sources, from what `tsc` made and from the bundle: all three are this deep. */
const built = fileURLToPath(new URL('../../../lib/console/', import.meta.url))

export function readFiles(folder: string = built): Files {
  const files = new Map<string, File>()
  for (const name of namesIn(folder)) {
    const type = types[extname(name)]
    if (type === undefined) continue
    const body = readFileSync(join(folder, name))
    const isPage = name === 'index.html'
    // Names of assets hold a hash of their content; what they are named in is never kept.
    const keep = isPage ? unkept : { 'cache-control': 'public, max-age=31536000, immutable' }
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
