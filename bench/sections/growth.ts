/**
 * The cost of a call as something grows: tools, tenants, sessions, subscriptions, tickets, audit rows, upstreams. The slope is
 * the CPU time at the largest size, relative to the smallest. `servers` has the same for memories.
 */
import type { Description, Point, Progress } from '../growth/child.ts'
import { startChild } from '../lib/child.ts'
import { formatFactor, formatNumber, progress, ratio, type Section } from '../lib/figures.ts'
import type { Failed } from '../lib/http-load.ts'

/** With the highest slope that is promised. A list that is searched by a tree may grow a little. */
const promised: Record<string, number> = {
  tools: 1.5,
  tenants: 3,
  sessions: 2,
  subscriptions: 2,
  tickets: 3,
  'tickets-in-memory': 3,
  audit: 2,
  upstreams: 3,
}

interface Grown extends Description {
  readonly points: readonly Point[]
}

async function grow(name: string): Promise<Grown | undefined> {
  progress(`growth: ${name}`)
  const child = startChild(new URL('../growth/child.ts', import.meta.url))
  try {
    const description = await child.ask<Description | Failed>(name)
    if ('failed' in description) throw new Error(description.failed)
    const points: Point[] = []
    for (;;) {
      const point = await child.ask<Point | Progress | Failed | { ended: true }>(name)
      if ('ended' in point) return { ...description, points }
      if ('failed' in point) throw new Error(point.failed)
      if ('size' in point) points.push(point)
    }
  } catch (error) {
    progress(`${name} is left out: ${error instanceof Error ? error.message : error}`)
  } finally {
    child.close()
  }
  return undefined
}

const slopeOf = ({ points }: Grown): number | undefined => ratio(points.at(-1)?.cpuUs, points[0]?.cpuUs)

export async function growth(): Promise<Section> {
  const grown: Record<string, Grown | undefined> = {}
  for (const name of Object.keys(promised)) grown[name] = await grow(name)
  const all = Object.values(grown).filter((one) => one !== undefined)
  return {
    figures: Object.fromEntries(Object.entries(grown).map(([name, one]) => [name, one?.points ?? null])),
    tables: [
      {
        title: 'growth: CPU time of a call as something grows',
        notes: [
          'median of 5 rounds of 0.5 s of CPU time, one process per row; slope: the last figure relative to the first',
        ],
        columns: ['', 'measured', 'sizes', 'CPU µs', 'heap MB', 'slope'],
        rows: all.map((one) => [
          one.what,
          one.measured,
          `from ${one.points.map(({ size }) => formatNumber(size)).join(' to ')}`,
          one.points.map(({ cpuUs }) => formatNumber(cpuUs)).join(' / '),
          one.points.map(({ megabytes }) => formatNumber(megabytes)).join(' / '),
          formatFactor(slopeOf(one)),
        ]),
      },
    ],
    goals: Object.entries(promised).map(([name, atMost]) => {
      const one = grown[name]
      return { figure: `growth, ${name}, slope`, atMost, unit: '×', measured: one && slopeOf(one) }
    }),
  }
}
