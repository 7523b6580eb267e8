/** Canaries go in wherever a caller can put something; no observer may let one out. */

import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { Logger, LogLine } from 'sluice'
import { fail, RpcError, tool } from 'sluice'
import { createServices } from 'sluice/extend'
import { aCall, fakeClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Call, Handler } from '../../packages/sluice/src/core/call.ts'

import { observeLayer } from '../../packages/sluice/src/layers/observe.ts'
import { run } from '../../packages/sluice/src/layers/run.ts'
import { validateLayer } from '../../packages/sluice/src/layers/validate.ts'
import { createAudit } from '../../packages/sluice/src/observe/audit.ts'
import { logObserver } from '../../packages/sluice/src/observe/log-observer.ts'
import { createMetrics } from '../../packages/sluice/src/observe/metrics.ts'
import { traceLayer } from '../../packages/sluice/src/observe/trace-layer.ts'
import { memoryStore } from '../../packages/sluice/src/stores/memory.ts'
import { asyncPipeline } from '../../packages/sluice/src/testing/call.ts'

const canary = (where: string): string => `CANARY-${where}-3f9a`
const args = { text: canary('argument'), nested: { list: [canary('nested'), 998877665544] } }
const headers: { readonly [name: string]: string } = {
  authorization: `Bearer ${canary('bearer')}`,
  'x-api-key': canary('apikey'),
  cookie: `a=b; session=${canary('cookie')}`,
  'mcp-session-id': canary('session'),
}
const quoting = `${canary('argument')} and ${canary('nested')}, 998877665544, ${headers['authorization']}, ${canary('bearer')}, ${canary('apikey')}, ${canary('cookie')}, ${canary('token')}, password: ${canary('unsent')}, client_secret=${canary('client')}&refreshToken=${canary('refresh')}, redis://app:${canary('url')}@db:6379`

const works: { readonly [name: string]: () => unknown } = {
  'a result': () => canary('result'),
  'a failure for the model': () => {
    throw fail(quoting)
  },
  'a bug that quotes what it was given': () => {
    throw new Error(quoting, { cause: new Error(quoting) })
  },
  'a bug with a name and fields of its own': () => {
    throw Object.assign(new Error('plain'), { config: { headers }, args })
  },
  'a refusal that quotes': () => {
    throw new RpcError('forbidden', quoting, { data: { args } })
  },
  'a missing resource': () => {
    throw new RpcError('resourceNotFound', `Resource not found: ${quoting}`)
  },
  'no error at all': () => {
    throw quoting
  },
  'an error result': () => ({ content: [{ type: 'text', text: quoting }], isError: true }),
}

function watched() {
  const clock = fakeClock(1000)
  const lines: unknown[] = []
  const at = (level: string) => (told: LogLine) => {
    lines.push({ level, ...told })
  }
  const logger: Logger = { info: at('info'), warn: at('warn'), error: at('error') }
  const store = memoryStore(clock)
  let made = 0
  const reference = (): string => `ref-${++made}`
  const services = createServices({ name: 'test', store, clock })
  const audit = createAudit({ store, clock })
  const audited = audit.create(services)
  const metrics = createMetrics({ tenants: 10 })
  const spans = new InMemorySpanExporter()
  const numbers = new InMemoryMetricExporter(AggregationTemporality.DELTA)
  const reader = new PeriodicExportingMetricReader({ exporter: numbers, exportIntervalMillis: 3_600_000 })
  const meterProvider = new MeterProvider({ readers: [reader] })
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
  const layers = [
    traceLayer({ tracerProvider, meterProvider }, clock),
    observeLayer([audited.observer ?? {}, { ended: logObserver(logger) }, metrics.observer], clock, reference),
    validateLayer,
    audited.layer ?? ((next) => next),
  ]
  const serve = (call: Call, handler: Handler = run): Promise<unknown> =>
    asyncPipeline(layers, handler)(call).catch(() => undefined)
  async function output(): Promise<{ readonly [sink: string]: string }> {
    await audit.flush()
    await reader.forceFlush()
    const told = spans
      .getFinishedSpans()
      .map(({ name, attributes, events, status, links }) => ({ name, attributes, events, status, links }))
    const rows = await store.list(['audit'], { limit: 10_000 })
    await meterProvider.shutdown()
    return {
      lines: JSON.stringify(lines),
      spans: JSON.stringify(told),
      numbers: JSON.stringify(
        numbers.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.map((scope) => scope.metrics)),
      ),
      audit: JSON.stringify(rows.map(({ value }) => value)),
      prometheus: metrics.text(),
    }
  }
  return { serve, output }
}

test("nothing that a caller sent, or a tool answered, is in any observer's output", async () => {
  const { serve, output } = watched()
  for (const [name, work] of Object.entries(works)) {
    const input = z.object({ text: z.string(), nested: z.object({ list: z.array(z.union([z.string(), z.number()])) }) })
    const target = tool({ name: 'a-tool', description: name, input, run: () => work() as string })
    const via = { transport: 'http', peer: '192.0.2.7', header: (header: string) => headers[header] } as const
    const params = { name: 'a-tool', arguments: args, token: canary('token') }
    const call = aCall({ target, args, params, via })
    await serve({ ...call, facts: {} })
    await serve({ ...call, facts: {}, args: { text: 5, [canary('name')]: canary('argument') } })
    await serve({ ...call, facts: {} }, () => Promise.resolve().then(work) as never)
    const unknown = { ...target, kind: 'unknown' as const, name: 'unknown' }
    await serve({ ...call, facts: {}, target: unknown, params: { ...params, name: canary('tool') } })
  }
  for (const [sink, text] of Object.entries(await output())) {
    expect(text.length, sink).toBeGreaterThan(100)
    expect(/CANARY-\w+/.exec(text)?.[0], sink).toBeUndefined()
    expect(text, sink).not.toContain('998877665544')
  }
})

test("what one tenant sent is in no line, span or record of another's", async () => {
  const { serve, output } = watched()
  const of = (tenant: string): Call =>
    aCall({
      args: { text: `of ${tenant}` },
      facts: { tenant, caller: `user@${tenant}` },
      tenant: { ...aCall().tenant, id: tenant },
    })
  for (const tenant of ['acme', 'beta'])
    await serve(of(tenant), () => Promise.reject(new Error(`only for ${tenant}: of ${tenant}`)))
  const { lines = '', audit = '' } = await output()
  for (const told of [
    ...(JSON.parse(lines) as object[]).map((each) => JSON.stringify(each)),
    ...(JSON.parse(audit) as string[]),
  ])
    expect(told.includes('acme') && told.includes('beta')).toBe(false)
})
