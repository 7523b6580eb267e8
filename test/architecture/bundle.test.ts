/** An edge deployment uploads only the code that its server uses. */

import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { scriptOf } from '../../bench/lib/contenders.ts'
import { gzippedKilobytes, maxKilobytes, workerOf } from '../../bench/lib/worker.ts'

const bundleOf = (contents: string): Promise<string> =>
  workerOf({ stdin: { contents, resolveDir: import.meta.dirname, loader: 'ts' } })

const worker = (plugins: string): string => `
  import * as z from 'zod'
  import { audit, authenticate, createServer, defineServer, rateLimit, tool } from 'sluice'
  import { idempotency, metrics } from 'sluice/plugins'
  import { admission, sessions, toFetch } from 'sluice/fetch'
  const echo = tool({ name: 'echo', description: 'Says it', input: z.object({ text: z.string() }), run: ({ text }) => text })
  const server = createServer(defineServer({ name: 'edge', version: '1', tools: [echo] }), { use: [${plugins}] })
  export default { fetch: toFetch(server) }`

/** A text that only the code of the plugin holds. */
const marks: readonly (readonly [plugin: string, mark: string])[] = [
  ['audit()', 'sluice_audit_dropped_total'],
  ['metrics()', 'sluice_requests_total'],
  ['idempotency()', 'onceNotRecorded'],
  ['rateLimit()', 'limits_local'],
  ['authenticate({ verifiers: [] })', 'so every caller would be refused'],
]

/** The same worker that `npm run bench -- bundle` measures. */
test('a worker with one Zod tool stays within its promised size', async () => {
  const text = await workerOf({ entryPoints: [fileURLToPath(scriptOf('sluice', 'edge'))] })
  expect(gzippedKilobytes(text)).toBeLessThanOrEqual(maxKilobytes)
})

test('a worker has nothing of the plugins that it does not use', async () => {
  const text = await bundleOf(worker(''))
  expect(marks.filter(([, mark]) => text.includes(mark))).toEqual([])
  for (const absent of ['sluice_gate_shed_total', 'Too many sessions are open', 'canonicalize', 'requestState is not'])
    expect(text).not.toContain(absent)
})

test.each(marks)('with %s it has the code of that plugin', async (plugin, mark) => {
  expect(await bundleOf(worker(plugin))).toContain(mark)
})
