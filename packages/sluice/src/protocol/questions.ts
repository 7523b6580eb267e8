/**
 * The input that a tool may need before it runs, declared beside it. It is a form, a page to open, a sample from the
 * client's model, or the client's roots.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */

import type { Call } from '../core/call.ts'
import type { Json, Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { isSafeUrl } from '../core/loopback.ts'
import type { AcceptedAnswer, Question, Questions, Ready } from '../core/target.ts'
import { formSchema } from './form-schema.ts'
import type { OutputOf, Schema } from './schema.ts'

/** A question and the type of its answer. `_` carries the type and is never set. */
export interface Ask<T> extends Question {
  readonly _?: T
}
/** Questions by name: the return value of a tool's `ask`. The answers have the same names. */
export type Asks = { readonly [key: string]: Ask<unknown> | undefined }
/** The answers by name. A question that may be left out has an answer that may be `undefined`. */
export type Answers<A extends Asks> = {
  readonly [K in keyof A]: NonNullable<A[K]> extends Ask<infer T> ? T | Extract<A[K], undefined> : never
}

/** Wraps a definition's `ask` and drops the questions that it left out. */
export const askWith =
  (ask: (answers: Params, call: Call) => Asks | undefined | Promise<Asks | undefined>): NonNullable<Ready['ask']> =>
  async (answers, call) => {
    const open: { [key: string]: Questions[string] } = {}
    for (const [key, question] of Object.entries((await ask(answers, call)) ?? {})) if (question) open[key] = question
    return open
  }

/** Asks the person to fill in a form. Never ask for secrets in it; those belong on a page of yours (`url`). */
export const form = <S extends Schema>(message: string, schema: S): Ask<OutputOf<S>> => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: formSchema(schema, message) },
  needs: { elicitation: { form: {} } },
  accept(answer) {
    const action = actionOf(answer)
    if (action === undefined || !isObject(answer)) return undefined
    if (action !== 'accept') return declined(action)
    const parsed = schema['~standard'].validate(answer['content'] ?? {})
    if (parsed instanceof Promise) throw new TypeError(`form "${message}": its schema must check synchronously`)
    return parsed.issues ? undefined : { value: parsed.value as Json }
  },
})

/** Makes a question optional. If it is declined or cancelled, the answer is `null`. */
export const optional = <T>(question: Ask<T>): Ask<T | null> => ({
  ...question,
  accept(answer) {
    const accepted = question.accept(answer)
    return accepted && 'declined' in accepted ? { value: null } : accepted
  },
})

/** Asks the person to open a page. Consent is the answer; it does not mean that the person finished anything there. */
export const url = (message: string, href: string): Ask<true> => urlQuestion(message, href)

/**
 * Asks the person to finish something on a page. Accepting only means that the page was opened. The question stays open
 * until `ask` no longer returns it, because your own state says that it is done. `id` identifies it to 2025-11-25
 * clients.
 */
export const visit = (message: string, href: string, id: string): Ask<true> => ({
  ...urlQuestion(message, href, { elicitationId: id }),
  visit: true,
})

function urlQuestion(message: string, href: string, more: Params = {}): Ask<true> {
  // A client may open any URL that it is given: a file, a script, another program.
  if (!isSafeUrl(href))
    throw new TypeError(`page "${message}": ${JSON.stringify(href)} must be an https URL (http on loopback only)`)
  return {
    method: 'elicitation/create',
    params: { mode: 'url', message, url: href, ...more },
    needs: { elicitation: { url: {} } },
    accept(answer) {
      const action = actionOf(answer)
      if (action === undefined) return undefined
      return action === 'accept' ? { value: true } : declined(action)
    },
  }
}

export interface SampleRequest {
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: object }[]
  readonly maxTokens: number
  readonly systemPrompt?: string
  readonly temperature?: number
  readonly stopSequences?: readonly string[]
  readonly modelPreferences?: Params
  readonly tools?: readonly object[]
  readonly toolChoice?: Params
}
export interface Sample {
  readonly role: string
  readonly model: string
  /** One block, or several if the client may use tools. */
  readonly content: Params | readonly Params[]
  readonly stopReason?: string
}

/** Asks the client's model. Deprecated by 2026-07-28, but many clients still have it. */
export const sample = (request: SampleRequest): Ask<Sample> => ({
  method: 'sampling/createMessage',
  params: { ...request },
  needs: { sampling: request.tools ? { tools: {} } : {} },
  accept: (answer) =>
    isObject(answer) && typeof answer['role'] === 'string' && isContent(answer['content'])
      ? { value: answer as Json }
      : undefined,
})

/** Asks which folders the client works in. The answer is advisory: a client may name any path, so it grants nothing. */
export const roots = (): Ask<readonly { readonly uri: string; readonly name?: string }[]> => ({
  method: 'roots/list',
  params: {},
  needs: { roots: {} },
  accept: (answer) =>
    isObject(answer) && Array.isArray(answer['roots']) && answer['roots'].every(isRoot)
      ? { value: answer['roots'] }
      : undefined,
})

const isContent = (content: unknown): boolean => isObject(content) || Array.isArray(content)
const isRoot = (root: unknown): boolean => isObject(root) && typeof root['uri'] === 'string'
const declined = (action: 'decline' | 'cancel'): AcceptedAnswer => ({ declined: action })
function actionOf(answer: unknown): 'accept' | 'decline' | 'cancel' | undefined {
  const action = isObject(answer) ? answer['action'] : undefined
  return action === 'accept' || action === 'decline' || action === 'cancel' ? action : undefined
}

/** Returns whether the client can answer a question, for an `ask` that chooses between questions. */
export const canAsk = ({ capabilities }: Call, question: Question): boolean => canAnswer(capabilities, question)

/** Returns whether the client declared the needed capability. `elicitation: {}` means forms only. */
export function canAnswer(capabilities: Params, { needs }: Pick<Question, 'needs'>): boolean {
  const { elicitation, sampling, roots } = needs
  if (isObject(elicitation)) {
    const declared = capabilities['elicitation']
    if (!isObject(declared)) return false
    return 'url' in elicitation ? isObject(declared['url']) : isObject(declared['form']) || !('url' in declared)
  }
  if (isObject(sampling)) {
    const declared = capabilities['sampling']
    return isObject(declared) && (!('tools' in sampling) || isObject(declared['tools']))
  }
  return roots === undefined || isObject(capabilities['roots'])
}
