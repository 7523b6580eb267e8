/**
 * A simulation for docs/scale.md: how evenly a hash of its name spreads a million tenants over cells, by number and by
 * calls. It measures no time.
 */
import { createHash } from 'node:crypto'
import { formatFactor, formatNumber, progress, type Section } from '../lib/figures.ts'

const tenants = 1_000_000
const cellCounts = [10, 20]
/** The largest tenants, if each has a separate cell. */
const separateCounts = [0, 10]

/** The calls of a tenant, by its rank. The largest has rank 0. */
const uneven = (rank: number): number => 1 / (rank + 1)
const loads = {
  'all alike': () => 1,
  'the second has half of the calls of the first, the third a third': uneven,
} as const
type Load = keyof typeof loads

const hashOf = (rank: number): number => createHash('sha256').update(`tenant-${rank}`).digest().readUInt32BE()

/** Returns the calls of each cell, without those of the `separate` largest tenants. */
function spread(hashes: Uint32Array, cells: number, weightOf: (rank: number) => number, separate: number): number[] {
  const sums = Array.from({ length: cells }, () => 0)
  for (let rank = separate; rank < hashes.length; rank++) {
    const cell = (hashes[rank] ?? 0) % cells
    sums[cell] = (sums[cell] ?? 0) + weightOf(rank)
  }
  return sums
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0)
const heaviestOf = (sums: readonly number[]): number => (Math.max(...sums) * sums.length) / sumOf(sums)

export async function cells(): Promise<Section> {
  progress(`cells: ${formatNumber(tenants)} tenants`)
  const hashes = Uint32Array.from({ length: tenants }, (_, rank) => hashOf(rank))
  const rows = cellCounts.flatMap((count) =>
    (Object.keys(loads) as Load[]).flatMap((load) =>
      separateCounts.map((separate) => ({
        ...{ count, load, separate },
        heaviest: heaviestOf(spread(hashes, count, loads[load], separate)),
      })),
    ),
  )
  const largestShare = (100 * uneven(0)) / sumOf(spread(hashes, 1, uneven, 0))
  return {
    figures: { rows, largestShare },
    tables: [
      {
        title: 'cells: calls of the cell with the most, relative to the mean',
        notes: [
          `a simulation: ${formatNumber(tenants)} tenants, each in the cell of its hash`,
          `in the uneven load the largest tenant makes ${formatNumber(largestShare)} % of all calls`,
        ],
        columns: ['calls of the tenants', 'cells', 'largest tenants apart', 'largest cell'],
        rows: rows.map(({ count, load, separate, heaviest }) => [
          load,
          String(count),
          String(separate),
          formatFactor(heaviest),
        ]),
      },
    ],
    goals: [],
  }
}
