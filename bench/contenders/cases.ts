/**
 * Runs a contender's in-process cases at the runner's request: CPU time per call, one call after the other.
 *
 * It measures CPU time of the whole process, so that garbage collection on other threads counts and a busy machine does
 * not. All cases of a contender share a process, so that they differ in the work and not in one compilation.
 */
import { performance } from 'node:perf_hooks'

export interface Case {
  /** One call, from the text of a message to the text (or object) of its answer. */
  readonly call: () => unknown
  /** A text that the answer must contain; otherwise the contender is not measured. */
  readonly expect: string
}

/** Reads one character, so that V8 flattens a concatenated string, as writing it to a socket would. */
const use = (answer: unknown): number => (typeof answer === 'string' ? answer.charCodeAt(0) : 0)

async function check(name: string, { call, expect }: Case): Promise<void> {
  const answer = await call()
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
  if (!text?.includes(expect)) throw new Error(`${name} answers ${String(text).slice(0, 200)}`)
}

/** Returns microseconds of CPU per call. The batch grows until reading the clock costs nothing. */
export async function measure(call: () => unknown, durationMs: number): Promise<number> {
  let calls = 0
  let batch = 1
  let used = 0
  const cpuBefore = process.cpuUsage()
  const end = performance.now() + durationMs
  for (let now = performance.now(); now < end; ) {
    for (let i = 0; i < batch; i++) used += use(await call())
    calls += batch
    const after = performance.now()
    if (after - now < 2) batch *= 2
    now = after
  }
  const { user, system } = process.cpuUsage(cpuBefore)
  if (Number.isNaN(used)) throw new Error('an answer was empty')
  return (user + system) / calls
}

export interface Question {
  readonly name: string
  readonly durationMs: number
}

/** A failing case ends the run, because its figure would be missing from the table. */
function abort(thrown: unknown): void {
  console.error(thrown)
  process.exit(1)
}

export async function serveCases(cases: Record<string, Case>): Promise<void> {
  for (const [name, item] of Object.entries(cases)) await check(name, item)
  process.on('message', ({ name, durationMs }: Question) => {
    const item = cases[name]
    if (item) measure(item.call, durationMs).then((us) => process.send?.(us), abort)
  })
  process.on('disconnect', () => process.exit())
  process.send?.(Object.keys(cases))
}
