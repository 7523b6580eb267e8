/**
 * Gathers questions into rounds. Work may ask several questions at once, in separate calls, and a client is answered
 * once per round. Questions that come while a round is open wait for the next one.
 */

import type { Clock } from '../core/clock.ts'
import type { Params } from '../core/json.ts'
import type { AskRound } from '../running-calls/ask.ts'
import type { AskedQuestion } from '../running-calls/record.ts'
import { keyOf } from '../running-calls/transitions.ts'

interface Asked {
  readonly questions: { readonly [name: string]: AskedQuestion }
  readonly promised: PromiseWithResolvers<{ readonly round: number; readonly answers: Params }>
}

/** How long the first question of a round waits for others. */
const gatherMs = 10

/** `open` writes the questions of one round and resolves with the answers, by key. */
export function createQuestionRounds(
  clock: Clock,
  open: (questions: { readonly [name: string]: AskedQuestion }) => Promise<Params>,
): { readonly ask: AskRound } {
  let queue: Asked[] = []
  let isOpen = false
  let round = 0

  function gather(): void {
    if (isOpen || queue.length === 0) return
    isOpen = true
    clock.after(gatherMs, () => {
      const asked = queue
      queue = []
      ask(asked).catch(() => {})
    })
  }
  async function ask(asked: readonly Asked[]): Promise<void> {
    const number = ++round
    const merged: { [name: string]: AskedQuestion } = {}
    /** Two callers may use the same name, so names are numbered from the second on. */
    const toUnique = ([name, question]: readonly [string, AskedQuestion]): readonly [string, string] => {
      let unique = name
      for (let n = 2; Object.hasOwn(merged, unique); n++) unique = `${name}-${n}`
      merged[unique] = question
      return [name, unique]
    }
    const named = asked.map(({ questions, promised }) => ({ promised, names: Object.entries(questions).map(toUnique) }))
    try {
      const answers = await open(merged)
      for (const { promised, names } of named) {
        const own = names.map(([name, unique]) => [keyOf(name, number), answers[keyOf(unique, number)]])
        promised.resolve({ round: number, answers: Object.fromEntries(own) })
      }
    } catch (thrown) {
      for (const { promised } of asked) promised.reject(thrown)
    }
    isOpen = false
    gather()
  }
  return {
    ask(questions) {
      const promised = Promise.withResolvers<{ readonly round: number; readonly answers: Params }>()
      queue.push({ questions, promised })
      gather()
      return promised.promise
    },
  }
}
