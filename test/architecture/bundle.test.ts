/** An edge deployment uploads only the code that its server uses. */

import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { scriptOf } from '../../bench/lib/contenders.ts'
import { gzippedKilobytes, maxKilobytes, workerOf } from '../../bench/lib/worker.ts'

const bundleOf = (contents: string): Promise<string> =>
  workerOf({ stdin: { contents, resolveDir: import.meta.dirname, loader: 'ts' } })

const worker = (parts: string): string => `
  import * as z from 'zod'
  import { audit, authenticate, createServer, defineServer, limit, log, metrics, once, tenant, tool } from 'sluice'
  import { admission, sessions, toFetch } from 'sluice/fetch'
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

/** The same worker that `npm run bench -- bundle` measures. */
test('a worker with one Zod tool stays within its promised size', async () => {
  const text = await workerOf({ entryPoints: [fileURLToPath(scriptOf('sluice', 'edge'))] })
  expect(gzippedKilobytes(text)).toBeLessThanOrEqual(maxKilobytes)
})

test('a worker has nothing of the parts it was not given', async () => {
  const text = await bundleOf(worker(''))
  expect(marks.filter(([, mark]) => text.includes(mark))).toEqual([])
  for (const absent of ['sluice_gate_shed_total', 'Too many sessions are open', 'canonicalize', 'requestState is not'])
    expect(text).not.toContain(absent)
})

test.each(marks)('with %s it has the code of that part', async (part, mark) => {
  expect(await bundleOf(worker(part))).toContain(mark)
})
