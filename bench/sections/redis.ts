/** The full stack with all rate limits on a real Redis, beside the same in memory and the floor. */
import { startRedis } from '../../test/kit/processes/redis.ts'
import type { Contender } from '../lib/contenders.ts'
import { formatInteger, ratio, type Section } from '../lib/figures.ts'
import { race } from '../lib/http-race.ts'

const names: readonly Contender[] = ['floor', 'sluice-full', 'sluice-redis']

export async function redis(): Promise<Section> {
  // The usual setting: a power cut loses one second of a limiter's counts.
  const server = await startRedis(['--appendfsync', 'everysec'])
  process.env['BENCH_REDIS'] = server.url
  try {
    const { rate, notes, columns, row } = await race('redis', names)
    return {
      figures: Object.fromEntries(names.map((name) => [name, formatInteger(rate(name))])),
      tables: [
        {
          title: 'redis: tools/call over HTTP, the full stack with its limits on Redis',
          notes: [...notes, 'Redis runs on the same machine, and uses a part of its cores'],
          columns: ['', ...columns],
          rows: names.map((name) => [name, ...row(name)]),
        },
      ],
      goals: [
        {
          figure: 'full stack with limits on Redis, of the floor',
          atLeast: 0.3,
          unit: '',
          measured: ratio(rate('sluice-redis'), rate('floor')),
        },
      ],
    }
  } finally {
    await server.stop()
  }
}
