/**
 * The time figures that the five source documents promise, beside ours. They are printed, not judged: the first call of
 * a process pays for compilation, which depends on the machine.
 */
import type { Timing } from '../contenders/sluice/documents.ts'
import { startChild } from '../lib/child.ts'
import { scriptOf } from '../lib/contenders.ts'
import { formatNumber, interleave, progress, type Section } from '../lib/figures.ts'

interface Timings {
  readonly list: Timing
  readonly call: Timing
}

export async function documents(): Promise<Section> {
  progress('documents: single calls in a fresh process')
  const child = startChild(scriptOf('sluice', 'documents'))
  const samples = await interleave(['sluice'] as const, 1, () => child.ask<Timings>())
  child.close()
  const [timings] = samples.get('sluice') ?? []
  const row = (document: string, promise: string, limit: string, timing: Timing | undefined) => [
    document,
    promise,
    limit,
    formatNumber(timing?.firstMs),
    formatNumber(timing?.medianMs),
    formatNumber(timing?.slowestMs),
  ]
  return {
    figures: { sluice: timings ?? null },
    tables: [
      {
        title: 'documents: what the source documents promise, and Sluice with 200 tools, ms',
        notes: ['the figures of Sluice cover the whole call, from the text of the message on'],
        columns: ['document', 'promise', 'limit', 'first call', 'median', 'slowest'],
        rows: [
          row('000', 'tools/list through handle, total overhead', '< 5', timings?.list),
          row('000', 'tools/list, end to end', '< 10', timings?.list),
          row('000', 'tools/call of a simple tool, end to end', '< 100', timings?.call),
          row('004', 'parsing a request', '< 100', timings?.call),
        ],
      },
    ],
    goals: [],
  }
}
