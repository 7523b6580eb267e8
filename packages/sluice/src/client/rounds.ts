/**
 * A request that needs answers first. 2026-07-28: the server answers `input_required`, the client repeats the request
 * with the answers and the server's state, unchanged. 2025-11-25: error −32042 names pages to open.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/mrtr
 */

import type { Clock } from '../core/clock.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { ClientError, errorCodes, ServerError } from './errors.ts'
import { UndeclaredQuestion } from './questions.ts'
import type { ServerQuestion } from './session.ts'
import { delay } from './subscriptions.ts'

/** A server could ask forever. */
const maxRounds = 10
/** How long to wait when a server only says "later". */
const laterMs = 1000

export interface Rounds {
  ask(params: Params): Promise<Params>
  answer(question: ServerQuestion): Promise<Params>
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
}

/** Repeats the request until its result is complete. */
export async function withRounds(params: Params, rounds: Rounds): Promise<Params> {
  let result = await rounds.ask(params)
  for (let round = 0; result['resultType'] === 'input_required'; round++) {
    if (round === maxRounds) throw new ClientError('protocol', `The server still asks after ${maxRounds} rounds`)
    const { inputRequests, requestState } = result
    if (inputRequests === undefined) await delay(laterMs, rounds.signal, rounds.clock)
    const inputResponses = await answersTo(inputRequests, rounds)
    // Neither answers nor state of an earlier round may be repeated: each round names the parameters of the next one.
    const { inputResponses: _answers, requestState: _state, ...first } = params
    result = await rounds.ask({
      ...first,
      ...(inputRequests !== undefined && { inputResponses }),
      ...(requestState !== undefined && { requestState }),
    })
  }
  return result
}

async function answersTo(requests: unknown, { answer }: Rounds): Promise<Params> {
  if (requests !== undefined && !isObject(requests))
    throw new ClientError('protocol', 'The server sent inputRequests that are not an object')
  const answers: [string, Params][] = []
  for (const [key, question] of Object.entries(requests ?? {})) {
    if (!isObject(question) || typeof question['method'] !== 'string')
      throw new ClientError('protocol', 'The server sent an input request without a method')
    const params = isObject(question['params']) ? question['params'] : {}
    try {
      answers.push([key, await answer({ method: question['method'], params })])
    } catch (thrown) {
      if (!(thrown instanceof UndeclaredQuestion)) throw thrown
      throw new ClientError('protocol', `The server asks an undeclared question: ${question['method'].slice(0, 64)}`)
    }
  }
  return Object.fromEntries(answers)
}

/** 2025-11-25: opens the pages that an error names, then repeats the request once. */
export async function withUrls(run: () => Promise<Params>, answer: Rounds['answer']): Promise<Params> {
  try {
    return await run()
  } catch (thrown) {
    if (!(thrown instanceof ServerError) || thrown.code !== errorCodes.urlRequired || !isObject(thrown.data))
      throw thrown
    const { elicitations } = thrown.data
    const pages = Array.isArray(elicitations) ? elicitations.filter(isObject) : []
    if (pages.length === 0 || pages.length > maxRounds) throw thrown
    for (const page of pages) {
      const given = await answer({ method: 'elicitation/create', params: { ...page, mode: 'url' } }).catch(() => {
        throw thrown
      })
      if (given['action'] !== 'accept') throw thrown
    }
    return run()
  }
}
