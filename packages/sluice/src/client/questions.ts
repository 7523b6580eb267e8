/**
 * Questions of a server to its client: a form, a page to open, a model's answer, the roots. Each has a handler, and exactly
 * the handlers that are there are declared as capabilities.
 */

import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'

/** The circumstances of a question, besides its parameters. */
export interface QuestionContext {
  /** Ends when the answer is no longer wanted. */
  readonly signal: AbortSignal
  /** The method of the request the question belongs to, if that is known. */
  readonly method: string | undefined
  /**
   * How the request was found: by its response stream, because it is the only one that can be asked, or because it is
   * the oldest that waits for no answer.
   */
  readonly attribution?: 'stream' | 'only call' | 'oldest call'
}

type Handler = (params: Params, context: QuestionContext) => Params | Promise<Params>

/** Answers the questions of servers. A question without a handler is refused, and its capability is not declared. */
export interface QuestionHandlers {
  /** Answers a form with `{ action: 'accept', content }`, `{ action: 'decline' }` or `{ action: 'cancel' }`. */
  readonly form?: Handler
  /** Shows a page to the user. `{ action: 'accept' }` says that it was opened. */
  readonly url?: Handler
  /** Lets a model answer: `sampling/createMessage`. */
  readonly sampling?: Handler
  /** Returns `{ roots: [{ uri, name }] }`. */
  readonly roots?: Handler
}

/** Returns the capabilities that the handlers stand for, together with declared ones such as extensions. */
export function capabilitiesOf(handlers: QuestionHandlers, declared: Params = {}): Params {
  const { form, url, sampling, roots } = handlers
  return {
    ...((form || url) && { elicitation: { ...(form && { form: {} }), ...(url && { url: {} }) } }),
    ...(sampling && { sampling: {} }),
    ...(roots && { roots: {} }),
    ...declared,
  }
}

/** A question that was not declared, or of a kind that does not exist. */
export class UndeclaredQuestion extends Error {
  override readonly name = 'UndeclaredQuestion'
}

/** Answers one question. Throws `UndeclaredQuestion` if the capabilities or the handlers do not cover it. */
export async function answerQuestion(
  { method, params }: { readonly method: string; readonly params: Params },
  handlers: QuestionHandlers,
  capabilities: Params,
  context: QuestionContext,
): Promise<Params> {
  const handler = isDeclared(method, params, capabilities) ? handlerFor(method, params, handlers) : undefined
  if (!handler) throw new UndeclaredQuestion(`The client did not declare the capability for "${method}"`)
  return handler.call(handlers, params, context)
}

function handlerFor(method: string, params: Params, handlers: QuestionHandlers): Handler | undefined {
  if (method === 'elicitation/create') return params['mode'] === 'url' ? handlers.url : handlers.form
  if (method === 'sampling/createMessage') return handlers.sampling
  return method === 'roots/list' ? handlers.roots : undefined
}

function isDeclared(method: string, params: Params, capabilities: Params): boolean {
  const { elicitation, sampling, roots } = capabilities
  if (method === 'sampling/createMessage')
    return (
      isObject(sampling) &&
      ((params['tools'] === undefined && params['toolChoice'] === undefined) || isObject(sampling['tools']))
    )
  if (method === 'roots/list') return isObject(roots)
  if (method !== 'elicitation/create' || !isObject(elicitation)) return false
  if (params['mode'] === 'url') return isObject(elicitation['url'])
  // `{}` has always meant forms.
  return isObject(elicitation['form']) || elicitation['url'] === undefined
}
