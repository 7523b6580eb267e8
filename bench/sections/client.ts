/**
 * Clients: `tools/call` against one Sluice server, over HTTP and over stdio, each client in a separate process. A
 * gateway cares about the CPU time of a call in the client, and about unknown fields of results.
 */
import { fileURLToPath } from 'node:url'
import type { ClientName, ServerAddress } from '../clients/client.ts'
import { startChild } from '../lib/child.ts'
import { factsOf } from '../lib/client-facts.ts'
import type { Calls } from '../lib/client-load.ts'
import { scriptOf } from '../lib/contenders.ts'
import {
  formatFactor,
  formatInteger,
  formatNumber,
  interleave,
  median,
  progress,
  ratio,
  type Section,
  type Table,
} from '../lib/figures.ts'

const onPipes: readonly ClientName[] = ['floor', 'sluice', 'sdk-v2', 'sdk-v1']
const onHttp: readonly ClientName[] = ['floor', 'sluice', 'sluice-fetch', 'sdk-v2', 'sdk-v1']
const concurrency = 32
const warmUpMs = 2_000
const roundMs = 500
const rounds = 9

interface Race {
  readonly names: readonly ClientName[]
  of(name: ClientName, pick: (calls: Calls) => number): number | undefined
}

async function race(over: string, names: readonly ClientName[], address: ServerAddress): Promise<Race> {
  const children = new Map(
    names.map((name) => [name, startChild(new URL('../lib/client-load.ts', import.meta.url))] as const),
  )
  async function ask(name: ClientName, order: object): Promise<Calls> {
    const reply = await children.get(name)?.ask<Calls | { readonly failed: string }>(order)
    if (!reply || 'failed' in reply) throw new Error(reply?.failed ?? 'never started')
    return reply
  }
  try {
    progress(`client ${over}: warming up ${names.join(', ')}`)
    const warm = await interleave(names, 1, async (name) => {
      await ask(name, { open: new URL(`../clients/${name}.ts`, import.meta.url).href, address })
      return ask(name, { concurrency, durationMs: warmUpMs })
    })
    const samples = await interleave([...warm.keys()], rounds, (name, round) => {
      if (name === names[0]) progress(`client ${over}: round ${round + 1} of ${rounds}`)
      return ask(name, { concurrency, durationMs: roundMs })
    })
    return {
      names,
      of(name, pick) {
        const taken = samples.get(name)
        return taken && median(taken.map(pick))
      },
    }
  } finally {
    for (const child of children.values()) child.close()
  }
}

const rate = ({ perSecond }: Calls): number => perSecond
const cpu = ({ cpuUs }: Calls): number => cpuUs

const tableOf = (over: string, { names, of }: Race): Table => ({
  title: `client over ${over}: tools/call against one Sluice server`,
  notes: [`${concurrency} in flight, median of ${rounds} rounds of ${roundMs / 1_000} s`],
  columns: ['', 'calls/s', 'vs sdk-v2', 'CPU µs/call', 'of sdk-v2', 'client busy'],
  rows: names.map((name) => [
    name,
    formatNumber(of(name, rate)),
    formatFactor(ratio(of(name, rate), of('sdk-v2', rate))),
    formatNumber(of(name, cpu)),
    formatNumber(ratio(of(name, cpu), of('sdk-v2', cpu))),
    formatNumber(of(name, ({ busy }) => busy)),
  ]),
})

export async function client(): Promise<Section> {
  const server = startChild(scriptOf('sluice', 'http'))
  try {
    const { url } = await server.ask<{ readonly url: string }>()
    const http = await race('HTTP', onHttp, { url })
    const stdio = await race('stdio', onPipes, { script: fileURLToPath(scriptOf('sluice', 'stdio')) })
    const facts = await factsOf()
    const figuresOf = ({ names, of }: Race): object =>
      Object.fromEntries(
        names.map((name) => [name, { perSecond: formatInteger(of(name, rate)), cpuUs: of(name, cpu) ?? null }]),
      )
    return {
      figures: { http: figuresOf(http), stdio: figuresOf(stdio), facts: facts.figures },
      tables: [tableOf('HTTP', http), tableOf('stdio', stdio), facts.table],
      goals: [
        {
          figure: 'client over HTTP, calls/s, times SDK v2',
          atLeast: 1,
          unit: '×',
          measured: ratio(http.of('sluice', rate), http.of('sdk-v2', rate)),
        },
        {
          figure: 'client over stdio, calls/s, times SDK v2',
          atLeast: 1,
          unit: '×',
          measured: ratio(stdio.of('sluice', rate), stdio.of('sdk-v2', rate)),
        },
      ],
    }
  } finally {
    server.close()
  }
}
