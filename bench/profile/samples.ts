/** Reads the profile that a contender wrote: where its time went, by the part of the program that the function belongs to. */
import { existsSync, readFileSync } from 'node:fs'
import type { Profiler } from 'node:inspector'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export const sampleUs = 250
const writtenWithinMs = 20_000

/** What a table shows, in its order. */
export const parts = [
  'Sluice',
  'contender',
  'Zod',
  'JSON.parse',
  'JSON.stringify',
  'other native code',
  'Node',
  'writes',
  'garbage collection',
  'system calls and the rest',
] as const
export type Part = (typeof parts)[number]

/** Maps part to share of the busy time. */
export type Shares = ReadonlyMap<Part, number>

export const profileNameOf = (script: string): string => `${basename(dirname(script))}-${basename(script)}.cpuprofile`

/** Waits for the profile of a contender that was ended. */
export async function sharesOf(folder: string, script: string): Promise<Shares> {
  const path = join(folder, profileNameOf(script))
  for (let waitedMs = 0; !existsSync(path); waitedMs += 50) {
    if (waitedMs > writtenWithinMs) throw new Error(`${path} was not written`)
    await sleep(50)
  }
  return toShares(JSON.parse(readFileSync(path, 'utf8')) as Profiler.Profile)
}

function toShares({ nodes, samples = [] }: Profiler.Profile): Shares {
  const partOfNode = new Map(nodes.map(({ id, callFrame }) => [id, partOf(callFrame)]))
  const busy = samples.flatMap((id) => partOfNode.get(id) ?? [])
  // The first half is the start and the warm-up.
  const steady = busy.slice(busy.length / 2)
  return new Map(parts.map((part) => [part, steady.filter((each) => each === part).length / steady.length]))
}

/** `undefined` if the process was idle. */
function partOf({ functionName, url }: Profiler.Profile['nodes'][number]['callFrame']): Part | undefined {
  if (functionName === '(idle)') return undefined
  if (functionName === '(garbage collector)') return 'garbage collection'
  if (functionName.startsWith('(')) return 'system calls and the rest'
  if (url.startsWith('node:')) return 'Node'
  if (url.includes('/node_modules/zod/')) return 'Zod'
  if (url.includes('/packages/sluice/')) return 'Sluice'
  if (url.endsWith('/profile/preload.ts')) return functionName === 'parse' ? 'JSON.parse' : 'JSON.stringify'
  if (url !== '') return 'contender'
  if (/^write/.test(functionName)) return 'writes'
  return 'other native code'
}
