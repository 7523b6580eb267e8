/**
 * Ten times the capacity, offered in an open loop to a tool of 20 ms with ten concurrent calls. It measures the
 * goodput, the time of a refusal, and the latency of admitted calls.
 */
import { startChild } from '../lib/child.ts'
import { formatNumber, median, progress, ratio, type Section } from '../lib/figures.ts'
import type { Failed } from '../lib/http-load.ts'
import { callMessage, echoText, httpHeaders } from '../lib/messages.ts'
import type { OpenJob, OpenLoad } from '../lib/open-loop.ts'

const capacity = 500
/** Shares of the capacity: almost idle, exactly full, ten times too much. */
const offers = { unloaded: 0.1, full: 1, overload: 10 } as const
type Offer = keyof typeof offers
const roundMs = 2_000
const rounds = 5

export async function overload(): Promise<Section> {
  const load = startChild(new URL('../lib/open-loop.ts', import.meta.url))
  const server = startChild(new URL('../contenders/sluice/overload.ts', import.meta.url))
  try {
    const { url } = await server.ask<{ url: string }>()
    const drive = async (offer: Offer, durationMs: number): Promise<OpenLoad> => {
      const job: OpenJob = {
        url,
        headers: httpHeaders('tools/call', '2026-07-28'),
        body: callMessage('2026-07-28'),
        expect: echoText,
        perSecond: capacity * offers[offer],
        durationMs,
      }
      const result = await load.ask<OpenLoad | Failed>(job)
      if ('failed' in result) throw new Error(result.failed)
      if (result.wrong > 0) throw new Error(`${result.wrong} of ${result.sent} answers were wrong`)
      return result
    }
    const names = Object.keys(offers) as Offer[]
    for (const offer of names) await drive(offer, 1_000)
    const samples = new Map<Offer, OpenLoad[]>(names.map((offer) => [offer, []]))
    for (let round = 0; round < rounds; round++) {
      progress(`overload: round ${round + 1} of ${rounds}`)
      for (const [offer, taken] of samples) taken.push(await drive(offer, roundMs))
    }
    const of = (offer: Offer, pick: (sample: OpenLoad) => number): number =>
      median((samples.get(offer) ?? []).map(pick))
    const goodput = (offer: Offer): number => of(offer, (sample) => sample.goodput)
    const peak = Math.max(...names.map(goodput))
    return {
      figures: Object.fromEntries(names.map((offer) => [offer, Math.round(goodput(offer))])),
      tables: [
        {
          title: 'overload: a tool of 20 ms, ten at once, in an open loop',
          notes: [`median of ${rounds} rounds of ${roundMs / 1_000} s; times from when a request was due`],
          columns: ['', 'offered/s', 'done/s', 'shed/s', 'done p50 ms', 'done p99 ms', 'shed p50 ms', 'shed p99 ms'],
          rows: names.map((offer) => [
            offer,
            formatNumber(capacity * offers[offer]),
            formatNumber(goodput(offer)),
            formatNumber(of(offer, ({ shed }) => (shed.count * 1_000) / roundMs)),
            formatNumber(of(offer, ({ accepted }) => accepted.p50Ms)),
            formatNumber(of(offer, ({ accepted }) => accepted.p99Ms)),
            formatNumber(of(offer, ({ shed }) => shed.p50Ms)),
            formatNumber(of(offer, ({ shed }) => shed.p99Ms)),
          ]),
        },
      ],
      goals: [
        {
          figure: 'overload, goodput at ten times the capacity, of the peak',
          atLeast: 0.8,
          unit: '',
          measured: ratio(goodput('overload'), peak),
        },
        {
          figure: 'overload, a refusal takes',
          atMost: 10,
          unit: ' ms',
          measured: of('overload', ({ shed }) => shed.p99Ms),
        },
        {
          figure: 'overload, latency of admitted calls, times unloaded (p99)',
          atMost: 2,
          unit: '×',
          measured: ratio(
            of('overload', ({ accepted }) => accepted.p99Ms),
            of('unloaded', ({ accepted }) => accepted.p99Ms),
          ),
        },
      ],
    }
  } finally {
    load.close()
    server.close()
  }
}
