/**
 * Suggestions while a person types a prompt's argument or a template's variable.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
 */

import type { Result } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { invalidParams } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { assertSendable } from './assert-sendable.ts'

/** Receives the typed text and the arguments already chosen. Returns the best matches first. */
export type Completer = (
  value: string,
  context: { readonly [argument: string]: string },
  call: Call,
) => readonly string[] | Promise<readonly string[]>
export type Completers = { readonly [argument: string]: Completer }

/** Maximum number of values that the protocol allows in one answer. */
const maxValues = 100

export interface CompletionRequest {
  /** The prompt's name or the template's text. */
  readonly ref: { readonly kind: 'prompt' | 'resource'; readonly name: string }
  readonly argument: string
  readonly value: string
  readonly context: { readonly [argument: string]: string }
}

function parseCompletion({ ref, argument, context }: Params): CompletionRequest {
  const kind = isObject(ref) && ref['type'] === 'ref/prompt' ? 'prompt' : 'resource'
  const name = isObject(ref) ? ref[kind === 'prompt' ? 'name' : 'uri'] : undefined
  if (!isObject(ref) || (ref['type'] !== 'ref/prompt' && ref['type'] !== 'ref/resource') || typeof name !== 'string')
    throw invalidParams('ref must be a ref/prompt with a name or a ref/resource with a uri')
  if (!isObject(argument) || typeof argument['name'] !== 'string' || typeof argument['value'] !== 'string')
    throw invalidParams('argument must have a name and a value')
  const chosen = isObject(context) && isObject(context['arguments']) ? Object.entries(context['arguments']) : []
  return {
    ref: { kind, name },
    argument: argument['name'],
    value: argument['value'],
    context: Object.fromEntries(chosen.filter((pair): pair is [string, string] => typeof pair[1] === 'string')),
  }
}

async function complete(completers: Completers, request: CompletionRequest, call: Call): Promise<Result> {
  const completer = Object.hasOwn(completers, request.argument) ? completers[request.argument] : undefined
  const values = (await completer?.(request.value, request.context, call)) ?? []
  if (!Array.isArray(values) || !values.every((each) => typeof each === 'string'))
    throw new TypeError(`complete.${request.argument} must return a list of strings`)
  assertSendable(values, call)
  return {
    completion: { values: values.slice(0, maxValues), total: values.length, hasMore: values.length > maxValues },
  }
}

/** Comes with the definitions that can be completed, so that a server without any does not load this code. */
export const completion: Completion = { parse: parseCompletion, complete }
export interface Completion {
  readonly parse: typeof parseCompletion
  readonly complete: typeof complete
}
