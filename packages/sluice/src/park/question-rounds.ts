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
    round++
    /** Two callers may use the same name, so names are numbered from the second on. */
    const names = new Map<Asked, ReadonlyMap<string, string>>()
    const merged: { [name: string]: AskedQuestion } = {}
    for (const each of asked) {
      const own = new Map<string, string>()
      for (const [name, question] of Object.entries(each.questions)) {
        let unique = name
        for (let n = 2; Object.hasOwn(merged, unique); n++) unique = `${name}-${n}`
        merged[unique] = question
        own.set(name, unique)
      }
      names.set(each, own)
    }
    const number = round
    try {
      const answers = await open(merged)
      for (const each of asked)
        each.promised.resolve({
          round: number,
          answers: Object.fromEntries(
            [...(names.get(each) ?? [])].map(([name, unique]) => [keyOf(name, number), answers[keyOf(unique, number)]]),
          ),
        })
    } catch (thrown) {
      for (const each of asked) each.promised.reject(thrown)
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
