/**
 * The full stack with a new idempotency key and an audit record for every call, on each store, and the longest turn of
 * the event loop. A call writes two records of its key before it is answered, and two of the
 * audit beside it.
 */
import { startPostgres } from '../../test/kit/processes/postgres.ts'
import { startRedis } from '../../test/kit/processes/redis.ts'
import type { Contender } from '../lib/contenders.ts'
import { formatInteger, formatNumber, type Section } from '../lib/figures.ts'
import { race } from '../lib/http-race.ts'

const names: readonly Contender[] = ['floor', 'stack-memory', 'stack-sqlite', 'stack-redis', 'stack-postgres']
const rounds = 7

export async function stack(): Promise<Section> {
  // Each store in its durable setting: an answered call survives a power cut.
  const redis = await startRedis(['--appendfsync', 'always'])
  const postgres = await startPostgres(['fsync=on'])
  Object.assign(process.env, { BENCH_REDIS: redis.url, BENCH_POSTGRES: postgres.url, BENCH_TURNS: '1' })
  try {
    const { rate, of, notes, columns, row } = await race('stack', names, { keyed: true, rounds })
    const turn = (name: Contender) => of(name, ({ longestTurnMs }) => longestTurnMs)
    return {
      figures: Object.fromEntries(
        names.map((name) => [name, { perSecond: formatInteger(rate(name)), longestTurnMs: turn(name) }]),
      ),
      tables: [
        {
          title: 'stack: the full stack with an idempotency key and audit for every call, on each store',
          notes: [...notes, 'the stores are on the same machine, and sync to its disk before they answer'],
          columns: ['', ...columns, 'longest turn ms'],
          rows: names.map((name) => [name, ...row(name), formatNumber(turn(name))]),
        },
      ],
      goals: names.slice(1).map((name) => ({
        figure: `longest turn of the event loop, ${name}`,
        atMost: 50,
        unit: ' ms',
        measured: turn(name),
      })),
    }
  } finally {
    delete process.env['BENCH_TURNS']
    await redis.stop()
    await postgres.stop()
  }
}
