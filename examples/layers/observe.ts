/** A log line per call, without arguments; metrics for Prometheus; health for an orchestrator. */

import assert from 'node:assert/strict'
import type { LogLine } from 'sluice'
import { toTransportServer } from 'sluice/extend'
import { createServer } from 'sluice/node'
import { health, log, metrics } from 'sluice/plugins'
import { testClient } from 'sluice/testing'
import { hello } from '../hello.ts'

const lines: LogLine[] = []
const record = (line: LogLine) => lines.push(line)
const server = createServer(hello, { use: [log({ info: record, warn: record, error: record }), metrics(), health()] })

await (await testClient(server)).call('shout', { text: 'a secret' })
assert.partialDeepStrictEqual(lines, [
  { method: 'tools/call', tool: 'shout', caller: 'anonymous', outcome: 'complete' },
])
assert.ok(!JSON.stringify(lines).includes('a secret'))

const metricsPage = await toTransportServer(server).page('/metrics', '127.0.0.1')
assert.match(metricsPage?.body ?? '', /sluice_requests_total\{.*target="shout",outcome="complete"\} 1/)
assert.equal((await toTransportServer(server).page('/readyz', '127.0.0.1'))?.status, 200)
// To strangers these pages are not there.
assert.equal(await toTransportServer(server).page('/metrics', '203.0.113.7'), undefined)
