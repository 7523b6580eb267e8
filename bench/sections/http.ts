/** `tools/call` over HTTP, Sluice and its peers, on one Zod tool. */
import { type Contender, revisions } from '../lib/contenders.ts'
import { ratio, type Section, times, whole } from '../lib/figures.ts'
import { race } from '../lib/http-race.ts'

const names: readonly Contender[] = ['floor', 'sluice', 'sluice-full', 'sdk-v2', 'sdk-v1', 'mcp-lite', 'tmcp']

export async function http(): Promise<Section> {
  const { rate, notes, columns, row } = await race('http', names)
  return {
    figures: Object.fromEntries(names.map((name) => [name, whole(rate(name))])),
    tables: [
      {
        title: 'http: tools/call, one Zod tool, requests per second',
        notes: [
          ...notes,
          'sluice-full: JWT, tenant, gate, limits, slots, scopes, log to a file, metrics; sdk-v2 and the rest with none of it',
        ],
        columns: ['', 'revision', 'vs sdk-v2', ...columns],
        rows: names.map((name) => [name, revisions[name], times(ratio(rate(name), rate('sdk-v2'))), ...row(name)]),
      },
    ],
    goals: [
      {
        figure: 'HTTP tools/call, of the floor',
        atLeast: 0.75,
        unit: '',
        measured: ratio(rate('sluice'), rate('floor')),
      },
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
