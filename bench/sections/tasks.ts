/**
 * Tasks on one store: what creating one costs beside a plain call, whether a look gets slower with the number of tasks,
 * and whether calls that are not tasks pay for the plugin.
 */
import type { Params, Server, Store } from 'sluice'
import { defineServer, memoryStore, tool } from 'sluice'
import { createServer } from 'sluice/node'
import { tasks } from 'sluice/plugins'
import { redisStore } from 'sluice/redis'
import { startRedis } from '../../test/kit/processes/redis.ts'
import { formatFactor, formatNumber, interleave, median, progress, ratio, type Section } from '../lib/figures.ts'
import { silentLog } from '../lib/silent-log.ts'

/** Not SQLite: it waits for the disk at every write, so its figures are the disk's. */
const storeNames = ['memory', 'redis'] as const
type StoreName = (typeof storeNames)[number]
/** A sample has at least so many calls, and lasts at least so long. Shorter ones measure what ran before them. */
const minCalls = 50
const minSampleMs = 5
const [warmUpRounds, rounds] = [10, 61]
const [few, many] = [10, 10_000]
const hourMs = 3_600_000

const work = tool({ name: 'work', description: 'Works', task: 'always', run: () => 'done' })
const plain = tool({ name: 'plain', description: 'Answers', run: () => 'done' })

interface Contender {
  send(method: string, params: Params, meta?: Params): Promise<Params>
  close(): Promise<void>
}

function open(store: Store, hasTasks: boolean): Contender {
  const server: Server = createServer(defineServer({ name: 'bench', version: '1', tools: [work, plain] }), {
    ...{ store, secret: 'only for the bench' },
    use: [silentLog, hasTasks && tasks({ perCaller: 1_000_000, perTenant: 1_000_000, perProcess: 1_000_000 })],
  })
  let ids = 0
  return {
    async send(method, params, meta = {}) {
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
        ...meta,
      }
      const answer = { ...(await server.handle({ jsonrpc: '2.0', id: ++ids, method, params: { ...params, _meta } })) }
      if ('error' in answer) throw new Error(JSON.stringify(answer))
      return (answer as { result: Params }).result
    },
    close: () => server.close(),
  }
}

/** Tasks that have ended: the first is made by a call, the others are copies of its record. */
async function fill(store: Store, { send }: Contender, count: number): Promise<readonly string[]> {
  const first = String((await send('tools/call', { name: 'work', arguments: {} }))['taskId'])
  while ((await send('tasks/get', { taskId: first }))['status'] === 'working');
  const [found] = await store.list(['server', 'bench', 'task'], { limit: 1 })
  if (!found) throw new Error('The record of a task is not where it was')
  const ids = [first]
  while (ids.length < count) {
    const some = Array.from({ length: Math.min(500, count - ids.length) }, () => crypto.randomUUID())
    const copies = some.map((id) =>
      store.set([...found.key.slice(0, -1), id], found.value.replaceAll(first, id), hourMs),
    )
    await Promise.all(copies)
    ids.push(...some)
  }
  return ids
}

/** Microseconds per call, one after the other. */
async function timed(call: (n: number) => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  let calls = 0
  let elapsedMs = 0
  for (; calls < minCalls || elapsedMs < minSampleMs; elapsedMs = performance.now() - begin)
    for (let n = 0; n < minCalls; n++) await call(calls++)
  return (elapsedMs * 1_000) / calls
}

export async function tasksSection(): Promise<Section> {
  const redis = await startRedis(['--appendfsync', 'everysec'])
  const closers: (() => Promise<void> | void)[] = []
  const make = (name: StoreName, which: string): Store => {
    if (name === 'memory') return memoryStore()
    const store = redisStore({ url: `${redis.url}/${['few', 'many', 'written', 'none'].indexOf(which)}` })
    closers.push(() => store.close())
    return store
  }
  try {
    const cases = new Map<string, (n: number) => Promise<unknown>>()
    for (const name of storeNames) {
      progress(`tasks: ${many} tasks on ${name}`)
      const [fewStore, manyStore] = [make(name, 'few'), make(name, 'many')]
      const [withFew, withMany] = [open(fewStore, true), open(manyStore, true)]
      const [written, without] = [open(make(name, 'written'), true), open(make(name, 'none'), false)]
      closers.unshift(...[withFew, withMany, written, without].map((each) => () => each.close()))
      const [fewIds, manyIds] = [await fill(fewStore, withFew, few), await fill(manyStore, withMany, many)]
      const call = { name: 'plain', arguments: {} }
      let keys = 0
      cases
        .set(`${name} plain, without the plugin`, () => without.send('tools/call', call))
        .set(`${name} plain`, () => withFew.send('tools/call', call))
        .set(`${name} under a key`, () =>
          written.send('tools/call', call, { 'dev.sluice/idempotencyKey': `key-${++keys}` }),
        )
        .set(`${name} creation`, () => written.send('tools/call', { name: 'work', arguments: {} }))
        .set(`${name} look, ${few} tasks`, (n) => withFew.send('tasks/get', { taskId: fewIds[n % few] }))
        .set(`${name} look, ${many} tasks`, (n) => withMany.send('tasks/get', { taskId: manyIds[(n * 47) % many] }))
    }
    const names = [...cases.keys()]
    const measure = (name: string): Promise<number> => timed(cases.get(name) as (n: number) => Promise<unknown>)
    progress(`tasks: ${rounds} rounds`)
    await interleave(names, warmUpRounds, measure)
    const samples = await interleave(names, rounds, measure)
    const us = (name: StoreName, item: string): number | undefined => {
      const taken = samples.get(`${name} ${item}`)
      return taken && median(taken)
    }
    /** The median of the ratios of each round, because the machine is faster in one second than in the next. */
    const timesOf = (name: StoreName, item: string, other: string): number | undefined => {
      const [above = [], below = []] = [samples.get(`${name} ${item}`), samples.get(`${name} ${other}`)]
      const ratios = above.flatMap((one, round) => ratio(one, below[round]) ?? [])
      return ratios.length > 0 ? median(ratios) : undefined
    }
    const items = [...new Set(names.map((name) => name.slice(name.indexOf(' ') + 1)))]
    const figures = Object.fromEntries(
      storeNames.map((name) => [name, Object.fromEntries(items.map((item) => [item, us(name, item)]))]),
    )
    const creation = (name: StoreName): number | undefined => timesOf(name, 'under a key', 'creation')
    return {
      figures,
      tables: [
        {
          title: 'tasks: µs per call in process, one after the other',
          notes: [
            `median of ${rounds} rounds; the promises are medians of the ratios within each round`,
            'creation: until the answer; the work and its end are written meanwhile',
          ],
          columns: ['', ...storeNames],
          rows: items.map((item) => [item, ...storeNames.map((name) => formatNumber(us(name, item)))]),
        },
        {
          title: 'tasks: how often one is created, of calls under a key',
          columns: ['', ...storeNames],
          rows: [['', ...storeNames.map((name) => formatFactor(creation(name)))]],
        },
      ],
      goals: storeNames.flatMap((name) => [
        {
          figure: `tasks/get with ${many} tasks, of ${few}, ${name}`,
          atMost: 1.2,
          unit: '×',
          measured: timesOf(name, `look, ${many} tasks`, `look, ${few} tasks`),
        },
        { figure: `creation, of a call under a key, ${name}`, atLeast: 0.5, unit: '×', measured: creation(name) },
        {
          figure: `plain call, of one without the plugin, ${name}`,
          atMost: 1.05,
          unit: '×',
          measured: timesOf(name, 'plain', 'plain, without the plugin'),
        },
      ]),
    }
  } finally {
    for (const close of closers) await close()
    await redis.stop()
  }
}
