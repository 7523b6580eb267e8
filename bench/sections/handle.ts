/** CPU time per call in process: without sockets, only the runtime is measured. */
import type { Question } from '../contenders/cases.ts'
import { type Child, startChild } from '../lib/child.ts'
import { type Contender, scriptOf } from '../lib/contenders.ts'
import { formatFactor, formatNumber, interleave, median, progress, ratio, type Section } from '../lib/figures.ts'

const contenders: readonly Contender[] = ['floor', 'sluice', 'sdk-v2']
const warmUpMs = 500
const roundMs = 120
const rounds = 15

export async function handle(): Promise<Section> {
  const children = new Map<Contender, Child>(contenders.map((name) => [name, startChild(scriptOf(name, 'handle'))]))
  try {
    progress(`handle: starting ${contenders.join(', ')}`)
    const started = await interleave(
      contenders,
      1,
      (name) => children.get(name)?.ask<string[]>() ?? Promise.resolve([]),
    )
    const keys = [...started].flatMap(([name, [cases]]) => (cases ?? []).map((item) => `${name} ${item}`))
    const measure = (key: string, durationMs: number) => {
      const [name, item] = key.split(' ') as [Contender, string]
      const question: Question = { name: item, durationMs }
      return children.get(name)?.ask<number>(question) ?? Promise.reject(new Error('never started'))
    }

    progress('handle: warming up')
    await interleave(keys, 1, (key) => measure(key, warmUpMs))
    const samples = await interleave(keys, rounds, (key, round) => {
      if (key === keys[0]) progress(`handle: round ${round + 1} of ${rounds}`)
      return measure(key, roundMs)
    })
    const us = (name: Contender, item: string) => {
      const taken = samples.get(`${name} ${item}`)
      return taken && median(taken)
    }

    /** The cheaper of the two forms that SDK v2 documents, which is the harder rival. */
    const rivalList = [us('sdk-v2', 'list-200'), us('sdk-v2', 'fetch-list-200')]
      .filter((value) => value !== undefined)
      .reduce<number | undefined>((min, value) => Math.min(min ?? value, value), undefined)
    const floorOf = (item: string) => us('floor', item.includes('list') ? 'list-200' : 'call')
    const row = (label: string, name: Contender, item: string, rival: number | undefined) => [
      label,
      formatNumber(us(name, item)),
      formatFactor(ratio(us(name, item), floorOf(item))),
      formatFactor(ratio(rival, us(name, item))),
    ]
    const rivalCall = (count: number) => us('sdk-v2', `text-${count}`)
    const figures: Record<string, Record<string, number>> = {}
    for (const [key, taken] of samples) {
      const [name = '', item = ''] = key.split(' ')
      figures[name] = { ...figures[name], [item]: Number(median(taken).toPrecision(4)) }
    }
    return {
      figures,
      tables: [
        {
          title: 'handle: tools/call in process, from the text of the message, CPU µs per call',
          notes: [
            'sdk-v2 in memory: one server, connected once; sdk-v2 fetch: its HTTP handler, a server per request',
            'of floor: times the cost of the floor; vs sdk-v2: times cheaper than its cheaper form',
          ],
          columns: ['', 'µs', 'of floor', 'vs sdk-v2'],
          rows: [
            row('floor: parse, Zod, stringify', 'floor', 'call', rivalCall(1)),
            ...[1, 50, 200].flatMap((count) => [
              row(`sluice handle, tools: ${count}`, 'sluice', `handle-${count}`, rivalCall(count)),
              row(`sluice text, tools: ${count}`, 'sluice', `text-${count}`, rivalCall(count)),
            ]),
            ...[1, 50, 200].flatMap((count) => [
              row(`sdk-v2 in memory, tools: ${count}`, 'sdk-v2', `text-${count}`, rivalCall(count)),
              row(`sdk-v2 fetch, tools: ${count}`, 'sdk-v2', `fetch-${count}`, rivalCall(count)),
            ]),
          ],
        },
        {
          title: 'handle: tools/list with 200 tools, CPU µs per call',
          columns: ['', 'µs', 'of floor', 'vs sdk-v2'],
          rows: [
            row('floor: parse, stringify', 'floor', 'list-200', rivalList),
            row('sluice text', 'sluice', 'list-200', rivalList),
            row('sdk-v2 in memory', 'sdk-v2', 'list-200', rivalList),
            row('sdk-v2 fetch', 'sdk-v2', 'fetch-list-200', rivalList),
          ],
        },
      ],
      goals: [
        {
          figure: 'text, times its floor',
          atMost: 5,
          unit: '×',
          measured: ratio(us('sluice', 'text-1'), floorOf('text-1')),
        },
        {
          figure: 'text with 200 tools, of 1 tool',
          atMost: 1.15,
          unit: '×',
          measured: ratio(us('sluice', 'text-200'), us('sluice', 'text-1')),
        },
        {
          figure: 'tools/list with 200 tools, times SDK v2',
          atLeast: 100,
          unit: '×',
          measured: ratio(rivalList, us('sluice', 'list-200')),
        },
      ],
    }
  } finally {
    for (const child of children.values()) child.close()
  }
}
