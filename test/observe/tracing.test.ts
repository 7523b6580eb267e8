/** A real OpenTelemetry SDK behind the layer: its export is what an operator would see. */

import type { Attributes, Meter } from '@opentelemetry/api'
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { fail, RpcError } from 'sluice'
import { aCall, fakeClock } from 'sluice/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Call, Handler } from '../../packages/sluice/src/core/call.ts'

import { observeLayer } from '../../packages/sluice/src/layers/observe.ts'
import { traceLayer } from '../../packages/sluice/src/observe/trace-layer.ts'
import { asyncPipeline } from '../../packages/sluice/src/testing/call.ts'

const spans = new InMemorySpanExporter()
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
const numbers = new InMemoryMetricExporter(AggregationTemporality.DELTA)
const reader = new PeriodicExportingMetricReader({ exporter: numbers, exportIntervalMillis: 3_600_000 })
const meterProvider = new MeterProvider({ readers: [reader] })

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
})
afterAll(async () => {
  context.disable()
  await meterProvider.shutdown()
})
beforeEach(() => {
  spans.reset()
})

const parent = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const traceparent = `00-${parent.traceId}-${parent.spanId}-01`
const other = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`

const answer = async () => ({ content: [] })
const clock = fakeClock()
function traced(handler: Handler = answer): (call: Call) => Promise<unknown> {
  const layers = [traceLayer({ tracerProvider, meterProvider }, clock), observeLayer([], clock, () => 'ref-1')]
  const serve = asyncPipeline(layers, handler)
  return (call) => serve(call).catch((thrown: unknown) => thrown)
}
function only(): ReadableSpan {
  expect(spans.getFinishedSpans()).toHaveLength(1)
  return spans.getFinishedSpans()[0] ?? expect.unreachable()
}
const over = (headers: { readonly [name: string]: string }): Call['via'] => ({
  ...{ transport: 'http', peer: '192.0.2.7', header: (name) => headers[name] },
})

test('a call is one server span below the one in _meta, by the semantic conventions', async () => {
  const call = aCall({ id: 7, meta: { traceparent, tracestate: 'rojo=1' }, via: over({ traceparent: other }) })
  await traced()(call)
  const span = only()
  expect(span.name).toBe('tools/call a-tool')
  expect(span.kind).toBe(SpanKind.SERVER)
  expect(span.parentSpanContext).toMatchObject({ ...parent, isRemote: true })
  expect(span.parentSpanContext?.traceState?.serialize()).toBe('rojo=1')
  expect(span.status.code).toBe(SpanStatusCode.UNSET)
  expect(span.attributes).toEqual({
    'mcp.method.name': 'tools/call',
    'mcp.protocol.version': '2026-07-28',
    'network.transport': 'tcp',
    'network.protocol.name': 'http',
    'client.address': '192.0.2.7',
    'jsonrpc.request.id': '7',
    'gen_ai.tool.name': 'a-tool',
    'gen_ai.operation.name': 'execute_tool',
  })
  expect(call.facts['traceId']).toBe(parent.traceId)
})

test('the work, and everything it starts, runs inside the span', async () => {
  await traced(async () => {
    await null
    tracerProvider.getTracer('a-tool').startSpan('query').end()
    return { content: [] }
  })(aCall())
  const [query, call] = spans.getFinishedSpans()
  expect(query?.parentSpanContext?.spanId).toBe(call?.spanContext().spanId)
})

test('the header names the parent if _meta does not, and an invalid one is ignored', async () => {
  await traced()(aCall({ via: over({ traceparent }) }))
  expect(only().parentSpanContext).toMatchObject(parent)
  spans.reset()
  await traced()(aCall({ meta: { traceparent: `${traceparent}0` } }))
  expect(only().parentSpanContext).toBeUndefined()
})

test('an ambient span is the parent, or linked if _meta names another', async () => {
  const ambient = tracerProvider.getTracer('http').startSpan('POST')
  const inside = (call: Call): Promise<unknown> =>
    context.with(trace.setSpan(context.active(), ambient), () => traced()(call))
  await inside(aCall({ via: over({ traceparent }) }))
  expect(only().parentSpanContext?.spanId).toBe(ambient.spanContext().spanId)
  spans.reset()
  await inside(aCall({ meta: { traceparent } }))
  expect(only().parentSpanContext).toMatchObject(parent)
  expect(only().links).toMatchObject([{ context: { spanId: ambient.spanContext().spanId } }])
})

const legacy: Partial<Call> = { revision: '2025-11-25' }
test.each<[string, Partial<Call>, () => Promise<never> | ReturnType<Handler>, Attributes, string | undefined]>([
  ['isError', {}, async () => ({ content: [], isError: true }), { 'error.type': 'tool_error' }, undefined],
  ['fail', {}, () => Promise.reject(fail('canary')), { 'error.type': 'tool_error' }, undefined],
  [
    'a limit',
    {},
    () => Promise.reject(new RpcError('rateLimited', 'Too many calls')),
    { 'error.type': '42900', 'rpc.response.status_code': '42900' },
    'Too many calls',
  ],
  [
    'a limit, before 2026-07-28',
    legacy,
    () => Promise.reject(new RpcError('rateLimited', 'Too many calls')),
    { 'error.type': '-32000', 'rpc.response.status_code': '-32000' },
    'Too many calls',
  ],
  [
    'a bug',
    {},
    () => Promise.reject(new TypeError('canary')),
    { 'error.type': '-32603', 'rpc.response.status_code': '-32603' },
    'Internal error',
  ],
])('%s is an error of the span', async (_, given, handler, attributes, message) => {
  await traced(handler)(aCall(given))
  const span = only()
  expect(span.status.code).toBe(SpanStatusCode.ERROR)
  expect(span.status.message).toBe(message)
  expect(span.attributes).toMatchObject(attributes)
  expect('rpc.response.status_code' in span.attributes).toBe('rpc.response.status_code' in attributes)
  expect(JSON.stringify([span.attributes, span.events, span.status])).not.toContain('canary')
})

test('a refusal carries the reference the client got', async () => {
  await traced(() => Promise.reject(new RpcError('timeout', 'late')))(aCall())
  expect(only().attributes['dev.sluice.reference']).toBe('ref-1')
})

test('an unknown name is in no span', async () => {
  const target = { ...aCall().target, kind: 'unknown' as const, name: 'unknown' }
  await traced()(aCall({ target, params: { name: 'canary' } }))
  expect(only().name).toBe('tools/call')
  expect(JSON.stringify(only().attributes)).not.toContain('canary')
})

test('durations are recorded in seconds, with the error’s type', async () => {
  numbers.reset()
  const slow = async (): Promise<{ isError: true }> => {
    await clock.advance(250)
    return { isError: true }
  }
  await traced(slow)(aCall({ via: { ...aCall().via, transport: 'stdio' } }))
  await reader.forceFlush()
  const [metric] = numbers.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
  expect(metric?.descriptor).toMatchObject({ name: 'mcp.server.operation.duration', unit: 's' })
  const point = metric?.dataPoints.find(({ attributes }) => attributes['network.transport'] === 'pipe')
  expect(point).toMatchObject({
    attributes: { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': 'a-tool', 'error.type': 'tool_error' },
    value: { sum: 0.25, count: 1 },
  })
  expect(point?.attributes).not.toHaveProperty('jsonrpc.request.id')
})

test('an exporter that throws changes no answer', async () => {
  const broken = { createHistogram: () => expect.unreachable() } as unknown as Meter
  const meters = { getMeter: () => broken }
  const serve = asyncPipeline([traceLayer({ tracerProvider, meterProvider: meters }, clock)], answer)
  await expect(serve(aCall())).resolves.toEqual({ content: [] })
})

test('without an SDK a call is served as usual', async () => {
  const call = aCall()
  const serve = asyncPipeline([traceLayer({}, clock)], answer)
  await expect(serve(call)).resolves.toEqual({ content: [] })
  expect(call.facts).not.toHaveProperty('traceId')
})

test.each(['approvalDenied', 'approvalVoid', 'resultTooLarge', 'invalidArguments', 'timeout'] as const)(
  '%s leaves tools/call as a result, so its span has no code that was never sent',
  async (reason) => {
    await traced(() => Promise.reject(new RpcError(reason, 'no')))(aCall())
    expect(only().attributes).toMatchObject({ 'error.type': 'tool_error' })
    expect(only().attributes['rpc.response.status_code']).toBeUndefined()
  },
)

test('a cancelled call has no answer, so its span has no code, whatever its work threw', async () => {
  const call = aCall()
  call.stop.stop(new RpcError('cancelled', 'The client cancelled it'))
  await traced(() => Promise.reject(new Error('aborted')))(call)
  expect(only().attributes).toMatchObject({ 'error.type': 'cancelled' })
  expect(only().attributes['rpc.response.status_code']).toBeUndefined()
})
