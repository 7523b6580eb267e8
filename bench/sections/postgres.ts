/** The full stack with the limits of every call on a real PostgreSQL, beside the same in memory and the floor. */
import { startPostgres } from '../../test/kit/processes/postgres.ts'
import type { Contender } from '../lib/contenders.ts'
import { formatInteger, ratio, type Section } from '../lib/figures.ts'
import { race } from '../lib/http-race.ts'

const names: readonly Contender[] = ['floor', 'sluice-full', 'sluice-postgres']

export async function postgres(): Promise<Section> {
  const server = await startPostgres(['fsync=on'])
  process.env['BENCH_POSTGRES'] = server.url
  try {
    const { rate, notes, columns, row } = await race('postgres', names)
    return {
      figures: Object.fromEntries(names.map((name) => [name, formatInteger(rate(name))])),
      tables: [
        {
          title: 'postgres: tools/call over HTTP, the full stack with its limits on PostgreSQL',
          notes: [...notes, 'PostgreSQL is on the same machine, and takes its share of the cores'],
          columns: ['', ...columns],
          rows: names.map((name) => [name, ...row(name)]),
        },
      ],
      goals: [
        {
          figure: 'full stack with limits on PostgreSQL, of the floor',
          atLeast: 0.3,
          unit: '',
          measured: ratio(rate('sluice-postgres'), rate('floor')),
        },
      ],
    }
  } finally {
    await server.stop()
  }
}
