/**
 * An event loop that the test controls: while a tool runs nothing else does, and requests wait in the kernel. Admission
 * control, the turn queue and the pressure monitor are the real ones.
 */

import { RpcError } from '../../packages/sluice/src/core/error.ts'
import { createAdmissionControl } from '../../packages/sluice/src/transports/http/admission.ts'
import { createPressureMonitor } from '../../packages/sluice/src/transports/node/pressure-monitor.ts'
import { createTurnQueue } from '../../packages/sluice/src/transports/node/turn-queue.ts'

export interface LoopOptions {
  /** How long the nth call blocks the loop, counted from 0. */
  readonly blockMs: (nth: number) => number
  /** How long a call waits for something else before it blocks the loop. By default not at all. */
  readonly waitMs?: number
  /** The part of a core that the process gets at a time. By default all of it. */
  readonly share?: (time: number) => number
}

interface Outcome {
  readonly arrivedAt: number
  readonly tookMs: number
  readonly refused: boolean
}

/** The time to read a request, or to refuse one. */
const readMs = 0.05
const sampleMs = 100

export function simulateLoop({ blockMs, waitMs = 0, share = () => 1 }: LoopOptions) {
  let [time, idleMs, nth] = [0, 0, 0]
  let turnEnds: (() => void)[] = []
  let events: { readonly at: number; readonly run: () => void }[] = []
  let sample = (): void => {}
  const outcomes: Outcome[] = []

  const turns = createTurnQueue({
    now: () => time,
    onTurnEnd(then) {
      turnEnds.push(then)
    },
  })
  const gate = createAdmissionControl(
    // A request that waits for a slot would need promises.
    { queue: 0 },
    {
      clock: { now: () => time, after: () => () => {} },
      measure: (thresholds = {}, requests) =>
        createPressureMonitor(thresholds, {
          requests,
          turns,
          measure: () => ({ heap: 0, idleMs, busyMs: time - idleMs }),
          every(_, then) {
            sample = then
            return () => {}
          },
        }),
    },
  )

  const work = (ms: number): void => {
    time += ms / share(time)
  }
  function at(due: number, run: () => void): void {
    events.push({ at: due, run })
  }
  function request(arrivedAt: number, done: (refused: boolean) => void = () => {}): void {
    work(readMs)
    const end = (refused: boolean): void => {
      outcomes.push({ arrivedAt, tookMs: time - arrivedAt, refused })
      done(refused)
    }
    const admission = gate.admit({ method: 'POST', peer: '192.0.2.1', header: () => undefined })
    if (admission instanceof RpcError || admission instanceof Promise) {
      end(true)
      return
    }
    const run = (): void => {
      work(blockMs(nth++))
      admission.release()
      end(false)
    }
    turns.add(
      () => (waitMs > 0 ? at(time + waitMs, run) : run()),
      () => {
        admission.tooLate?.()
        admission.release()
        end(true)
      },
    )
  }

  return {
    /** Sends a request every `everyMs`, whatever becomes of the others. */
    openLoop(everyMs: number, from: number, until: number): void {
      let due = from
      const read = (): void => {
        const now = time
        for (; due <= Math.min(now, until); due += everyMs) request(due)
        if (due < until) at(due, read)
      }
      at(from, read)
    },
    /** Clients that send their next request when they have an answer, or `retryMs` after a refusal. */
    closedLoop(clients: number, from: number, until: number, retryMs = 0): void {
      const send = (due: number): void => {
        const next = (refused: boolean): void => send(refused ? time + retryMs : time)
        if (due < until) at(due, () => request(due, next))
      }
      for (let client = 0; client < clients; client++) send(from)
    },
    /** Runs until no request is left. */
    run(): readonly Outcome[] {
      let sampleAt = sampleMs
      while (events.length > 0 || turnEnds.length > 0) {
        if (time >= sampleAt) {
          sample()
          sampleAt = time + sampleMs
        }
        const now = time
        const due = events.filter((event) => event.at <= now).toSorted((a, b) => a.at - b.at)
        events = events.filter((event) => event.at > now)
        for (const { run } of due) run()
        const ends = turnEnds
        turnEnds = []
        for (const then of ends) then()
        if (due.length > 0 || ends.length > 0) continue
        const next = Math.min(sampleAt, ...events.map((event) => event.at))
        idleMs += next - time
        time = next
      }
      return outcomes
    },
  }
}
