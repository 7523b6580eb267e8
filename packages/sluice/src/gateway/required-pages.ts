/**
 * Error −32042 of an upstream of 2025-11-25: pages must be visited before it takes the call. For a client of 2026-07-28
 * the pages become a question, and the call is repeated when they were opened. A client of 2025-11-25 gets the error,
 * with the same checks of the addresses.
 */

import { errorCodes, ServerError } from '../client/errors.ts'
import type { Call } from '../core/call.ts'
import { fail, RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { assertAskable } from '../layers/elicitation.ts'
import { modernRevision } from '../protocol/revisions.ts'
import { cleanQuestion } from './relay-questions.ts'

const maxPages = 16
/** A symbol, so that no upstream can send it. */
const requiresPages: unique symbol = Symbol('requiresPages')

/** Returns the pages as an `input_required` result; `undefined` if the failure is another one. */
export function toPages(thrown: unknown, call: Call, upstream: string): Params | undefined {
  if (!(thrown instanceof ServerError) || thrown.code !== errorCodes.urlRequired || !isObject(thrown.data))
    return undefined
  const { elicitations } = thrown.data
  const pages = Array.isArray(elicitations) ? elicitations.filter(isObject).slice(0, maxPages) : []
  if (pages.length === 0) return undefined
  const requests = pages.map(({ message, url }) => ({
    method: 'elicitation/create',
    params: { mode: 'url', message, url },
  }))
  if (call.revision !== modernRevision) throw asError(pages, requests, call, upstream)
  const named = requests.map((request, index) => [`page-${index + 1}`, request] as const)
  return { resultType: 'input_required', inputRequests: Object.fromEntries(named), [requiresPages]: true } as Params
}

function asError(pages: readonly Params[], requests: readonly Params[], call: Call, upstream: string): RpcError {
  const questions = requests.map((request) => cleanQuestion(upstream, request))
  assertAskable(questions, call)
  const elicitations = questions.map(({ params }, index) => ({
    ...params,
    elicitationId: String(pages[index]?.['elicitationId']).slice(0, 128),
  }))
  return new RpcError('urlRequired', `${upstream} needs a page to be visited first: open it, then call again`, {
    data: { elicitations },
  })
}

/** Returns whether the questions are pages that the upstream itself must not get answers for. */
export const isPages = (result: Params): boolean => requiresPages in result

/** Throws if a page was not opened, because the upstream would refuse the call again. */
export function assertOpened(upstream: string, answers: Params): void {
  const isOpened = (answer: unknown): boolean => isObject(answer) && answer['action'] === 'accept'
  if (!Object.values(answers).every(isOpened))
    throw fail(`${upstream} needs a page to be visited first, and the person did not open it`)
}
