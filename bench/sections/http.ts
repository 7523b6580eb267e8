/** `tools/call` over HTTP, Sluice and its peers, on one Zod tool. */
import { type Contender, revisions } from '../lib/contenders.ts'
import { formatFactor, formatInteger, ratio, type Section } from '../lib/figures.ts'
import { race } from '../lib/http-race.ts'

const names: readonly Contender[] = ['floor', 'sluice', 'sluice-full', 'sdk-v2', 'sdk-v1', 'mcp-lite', 'tmcp']

/** Few clients and many. With one or four the server waits between two requests. */
const otherConnections: readonly number[] = [1, 4, 256]
const compared: readonly Contender[] = ['floor', 'sluice', 'sdk-v2']

export async function http(): Promise<Section> {
  const { rate, ...table } = await race('http', names)
  const small = []
  for (const connections of otherConnections)
    small.push({ connections, ...(await race(`http, ${connections} at a time`, compared, { connections, rounds: 9 })) })
  return {
    figures: {
      ...ratesOf(names, rate),
      ...Object.fromEntries(small.map((one) => [`connections-${one.connections}`, ratesOf(compared, one.rate)])),
    },
    tables: [
      {
        title: 'http: tools/call, one Zod tool, requests per second',
        notes: [
          ...table.notes,
          'sluice-full: JWT, tenant, admission, limits, concurrency, scopes, log to a file, metrics; sdk-v2 and the rest with none of it',
        ],
        columns: ['', 'revision', 'vs sdk-v2', ...table.columns],
        rows: names.map((name) => [
          name,
          revisions[name],
          formatFactor(ratio(rate(name), rate('sdk-v2'))),
          ...table.row(name),
        ]),
      },
      ...small.map(({ connections, notes, columns, row }) => ({
        title: `http: the same with ${connections} at a time`,
        notes,
        columns: ['', ...columns],
        rows: compared.map((name) => [name, ...row(name)]),
      })),
    ],
    goals: [
      {
        figure: 'HTTP tools/call with 32 connections, of the floor',
        atLeast: 0.9,
        unit: '',
        measured: ratio(rate('sluice'), rate('floor')),
      },
      ...small.map(({ connections, rate: rateOf }) => ({
        figure: `HTTP tools/call with ${connections === 1 ? 'one connection' : `${connections} connections`}, of the floor`,
        atLeast: 0.9,
        unit: '',
        measured: ratio(rateOf('sluice'), rateOf('floor')),
      })),
      {
        figure: 'HTTP tools/call, times SDK v2',
        atLeast: 8,
        unit: '×',
        measured: ratio(rate('sluice'), rate('sdk-v2')),
      },
      {
        figure: 'full stack, of the floor',
        atLeast: 0.6,
        unit: '',
        measured: ratio(rate('sluice-full'), rate('floor')),
      },
      {
        figure: 'full stack, times SDK v2',
        atLeast: 6,
        unit: '×',
        measured: ratio(rate('sluice-full'), rate('sdk-v2')),
      },
    ],
  }
}

const ratesOf = (of: readonly Contender[], rate: (name: Contender) => number | undefined) =>
  Object.fromEntries(of.map((name) => [name, formatInteger(rate(name))]))
