/** One span per call, below the span of the client that made it. */

import assert from 'node:assert/strict'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { createServer } from 'sluice/node'
import { testClient } from 'sluice/testing'
import { tracing } from 'sluice/tracing'
import { hello } from '../hello.ts'

const exporter = new InMemorySpanExporter()
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })

const server = createServer(hello, { use: [tracing({ tracerProvider })] })

const client = await testClient(server)
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
await client.request('tools/call', {
  name: 'shout',
  arguments: { text: 'hi' },
  _meta: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
})
const span = exporter.getFinishedSpans().find(({ name }) => name === 'tools/call shout')
assert.equal(span?.spanContext().traceId, traceId)
assert.equal(span.attributes['mcp.method.name'], 'tools/call')
