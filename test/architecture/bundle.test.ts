/** What an edge deployment uploads: a server carries the code of what it uses, and of nothing else. */

import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

/** As Wrangler does it for a worker with Node compatibility. */
async function bundleOf(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*', 'cloudflare:*'],
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}

const worker = (parts: string): string => `
  import * as z from 'zod'
  import { audit, authenticate, createServer, defineServer, limit, log, metrics, once, tenant, tool } from 'sluice'
  import { gate, sessions, toFetch } from 'sluice/fetch'
  const echo = tool({ name: 'echo', description: 'Says it', input: z.object({ text: z.string() }), run: ({ text }) => text })
  const server = createServer(defineServer({ info: { name: 'edge', version: '1' }, tools: [echo] }), { ${parts} })
  export default { fetch: toFetch(server) }`

/** A text that only the code of the part holds. */
const marks: readonly (readonly [part: string, mark: string])[] = [
  ['audit: audit()', 'sluice_audit_dropped_total'],
  ['metrics: metrics()', 'sluice_requests_total'],
  ['once: once()', 'onceNotRecorded'],
  ['limit: limit()', 'limits_local'],
  ['authenticate: authenticate({ verifiers: [] })', 'without one nobody can be let in'],
]

/** The figure is 50 KB, and `npm run bench -- bundle` measures it; this is about what brings a whole part along. */
test('a worker with one Zod tool is small, and has nothing of the parts it was not given', async () => {
  const text = await bundleOf(worker(''))
  expect(gzipSync(text, { level: 9 }).length).toBeLessThan(52_000)
  expect(marks.filter(([, mark]) => text.includes(mark))).toEqual([])
  for (const absent of ['sluice_gate_shed_total', 'Too many sessions are open', 'canonicalize', 'requestState is not'])
    expect(text).not.toContain(absent)
})

test.each(marks)('with %s it has the code of that part', async (part, mark) => {
  expect(await bundleOf(worker(part))).toContain(mark)
})
