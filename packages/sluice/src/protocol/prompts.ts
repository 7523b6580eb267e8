/**
 * `prompt()` defines messages that a person can start from, with arguments.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
 */

import type { Result } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { ArgumentIssues, Ready, Target } from '../core/target.ts'
import { assertSendable } from './assert-sendable.ts'
import type { Completers, Completion } from './completion.ts'
import { completion } from './completion.ts'
import type { ContentBlock, Icon } from './content.ts'
import { toWireBlock } from './content.ts'
import { toIssues } from './issues.ts'
import { policyOf } from './policy.ts'
import type { Asks } from './questions.ts'
import { askWith } from './questions.ts'
import type { OutputOf, Schema } from './schema.ts'
import { toObjectSchema } from './schema.ts'
import type { ToolContext } from './tool-context.ts'
import { toolContextOf } from './tool-context.ts'
import { assertName } from './tools.ts'
import { validateInput } from './validate-input.ts'

export interface PromptMessage {
  readonly role: 'user' | 'assistant'
  /** Text, or one content block. */
  readonly content: string | ContentBlock
}
/** One user message, several messages, or messages with a description of this prompt. */
export type PromptOutput =
  | string
  | readonly PromptMessage[]
  | { readonly description?: string; readonly messages: readonly PromptMessage[] }

/** The options of `prompt`. */
export interface PromptDefinition<S extends Schema, A extends Asks> {
  readonly name: string
  readonly title?: string
  readonly description: string
  /** An object of strings, because a prompt's arguments can be nothing else on the wire. */
  readonly input?: S
  readonly icons?: readonly Icon[]
  readonly meta?: Params
  readonly scopes?: readonly string[]
  readonly listed?: boolean
  readonly timeoutMs?: number
  /** Suggestions for the arguments. */
  readonly complete?: Completers
  ask?(input: OutputOf<S>, answers: Params, call: ToolContext['call']): A | Promise<A>
  run(input: OutputOf<S>, context: ToolContext<A>): PromptOutput | Promise<PromptOutput>
}

/** A prompt that is ready for a server definition. */
export interface Prompt extends Target {
  readonly kind: 'prompt'
  /** The entry in `prompts/list` for the newest revision. */
  readonly entry: Params
  readonly complete: Completers
  readonly completion: Completion
}

/** Defines a prompt that a person can choose: `prompt({ name, description, input, run })`. */
export function prompt<S extends Schema = Schema<Record<never, never>>, A extends Asks = Record<never, never>>(
  definition: PromptDefinition<S, A>,
): Prompt {
  const { name, title, description, input, icons, meta } = definition
  assertName('prompt', name, description)
  const schema: Params = input ? toObjectSchema(input, `prompt "${name}", input`) : { type: 'object', properties: {} }
  const parameters = argumentsOf(schema, name)
  for (const argument of Object.keys(definition.complete ?? {}))
    if (!parameters.some((parameter) => parameter['name'] === argument))
      throw new TypeError(`prompt "${name}": complete.${argument} is not among its arguments`)
  const entry: Params = {
    name,
    ...(title !== undefined && { title }),
    description,
    ...(parameters.length > 0 && { arguments: parameters }),
    ...(icons && { icons }),
    ...(meta && { _meta: meta }),
  }
  const policy = policyOf(definition, `prompt "${name}"`, { readOnly: true })
  return {
    kind: 'prompt',
    name,
    policy,
    entry,
    complete: definition.complete ?? {},
    completion,
    asks: definition.ask !== undefined,
    async prepare(args): Promise<Ready | ArgumentIssues> {
      const parsed = input ? await validateInput(input, schema, args) : { value: {}, issues: undefined }
      if (parsed.issues) return { issues: toIssues(parsed.issues, schema, args) }
      const value = parsed.value as OutputOf<S>
      return {
        ...(definition.ask && { ask: askWith((answers, call) => definition.ask?.(value, answers, call)) }),
        run: async (call, answers) =>
          toResult(await definition.run(value, toolContextOf<A>(call, answers)), description, call),
      }
    },
  }
}

function argumentsOf(schema: Params, name: string): readonly Params[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  return Object.entries(properties).map(([argument, field]) => {
    const { type, title, description } = isObject(field) ? field : {}
    if (type !== undefined && type !== 'string')
      throw new TypeError(`prompt "${name}": argument "${argument}" must be a string; convert it inside run`)
    return {
      name: argument,
      ...(typeof title === 'string' && { title }),
      ...(typeof description === 'string' && { description }),
      required: required.includes(argument),
    }
  })
}

function toResult(output: PromptOutput, description: string, call: Call): Result {
  assertSendable(output, call)
  if (typeof output === 'string') return { description, messages: [toMessage({ role: 'user', content: output })] }
  const { messages, ...more } = 'messages' in output ? output : { messages: output }
  if (!Array.isArray(messages)) throw new TypeError('run must return text or messages')
  const result = { description, ...more, messages: messages.map(toMessage) }
  if (typeof result.description !== 'string') throw new TypeError('description must be text')
  return result
}

function toMessage({ role, content }: PromptMessage): Params {
  if (role !== 'user' && role !== 'assistant') throw new TypeError('role must be "user" or "assistant"')
  return { role, content: typeof content === 'string' ? { type: 'text', text: content } : toWireBlock(content) }
}

/** One refusal for a prompt without a definition and for one that the caller may not see. */
export const unknownPrompt = (name: string): RpcError =>
  new RpcError('unknownPrompt', `Unknown prompt: ${name.slice(0, 128)}`)
