/** `tool()` is where `unknown` becomes a type. Code after it never casts. */

import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Result } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { ReservedArguments } from '../core/reserved-arguments.ts'
import type { ArgumentIssues, Effect, Ready, Target, TaskMode } from '../core/target.ts'
import { assertSendable } from './assert-sendable.ts'
import type { ContentBlock, Icon } from './content.ts'
import { hasMeta, toWireBlock } from './content.ts'
import type { Format } from './format.ts'
import { toIssues } from './issues.ts'
import { policyOf } from './policy.ts'
import type { Asks } from './questions.ts'
import { askWith } from './questions.ts'
import type { Resource } from './resources.ts'
import type { InputOf, OutputOf, Schema } from './schema.ts'
import { headerParams, toJsonSchema, toObjectSchema } from './schema.ts'
import type { ToolContext } from './tool-context.ts'
import { toolContextOf } from './tool-context.ts'
import { validateInput } from './validate-input.ts'

export interface ToolAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/** A whole result, for a tool that needs more than text or data. */
export interface ToolResult {
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly _meta?: Params
}
/** Text, content blocks, a whole result, or a plain object, which becomes `structuredContent` and a text block. */
export type ToolOutput = string | readonly ContentBlock[] | ToolResult | PlainObject
/** An object, including one whose type is an interface, but not an array, map or set. */
type PlainObject = object & { readonly [Symbol.iterator]?: never }

/**
 * The return type of `run`. With an `output` schema it is exactly that, checked before it is sent. The intersection
 * keeps literals from widening. Without it the whole union would be `unknown` to the compiler during inference.
 */
type RunReturn<O extends Schema | undefined> = O extends Schema
  ? (InputOf<O> & (NonNullable<unknown> | null)) | ToolResult
  : ToolOutput

/** The context that `effect` may read. */
export type EffectContext<A extends Asks = Record<never, never>> = Pick<
  ToolContext<A>,
  'call' | 'caller' | 'answers' | 'store' | 'signal'
>

/** The options of `tool`. */
export interface ToolDefinition<S extends Schema, O extends Schema | undefined, A extends Asks> {
  readonly name: string
  readonly title?: string
  readonly description: string
  /** Without it, the tool takes no arguments. */
  readonly input?: S
  readonly output?: O
  readonly annotations?: ToolAnnotations
  readonly icons?: readonly Icon[]
  readonly meta?: Params
  /** The page that shows its results: `app({ … })` from `sluice/apps`. Or `appOnly`, for a tool that only pages call. */
  readonly ui?: ToolPage | ToolUi
  /** Scopes that a caller must all have to see and call it. */
  readonly scopes?: readonly string[]
  /** Lists it for every caller. A call without the scopes then gets a challenge for them. */
  readonly listed?: boolean
  /** Whether a call needs an approval. Any value but exactly `false` means yes, and so does a function that throws. */
  readonly approval?: 'never' | 'always' | ((input: OutputOf<S>, call: Call) => boolean | Promise<boolean>)
  /**
   * States what the call will act on, for the person who approves it: `({ Workspace: 'scratch', Memories: 214 })`.
   * Called when an approval is requested and again right before `run`. If a value changed, the approval is void.
   * Otherwise an approval could be spent on something the approver never saw. Must change nothing.
   */
  effect?(input: OutputOf<S>, context: EffectContext<A>): Effect | Promise<Effect>
  /**
   * Replaces `effect` on a tool with `approval` if the arguments alone state what it acts on, whatever the state of the
   * server.
   */
  readonly stateless?: true
  /** Adds the arguments `approval_request_id` and `approved`: `approvalArguments` from `sluice/approvals`. */
  readonly approvalArguments?: ReservedArguments
  readonly timeoutMs?: number
  /**
   * Whether `run` calls `context.ask`. Needs `park()` in `use`. Questions that are known before the work begins belong in
   * `ask`.
   */
  readonly asksWhileRunning?: boolean
  /**
   * Whether a call may be answered with a task, which the client then polls. Needs `tasks()` in `use`. `auto`: if the
   * work takes longer than `taskAfterMs` and the client knows tasks. `always`: other clients are refused. `never` by
   * default.
   */
  readonly task?: TaskMode
  /** How long a call waits for its result before it becomes a task: 2 s by default, 0 to become one at once. */
  readonly taskAfterMs?: number
  /**
   * Adds the argument `format: json | toon`, for the text of structured results. It pays for many uniform rows. With
   * `toon`, a tool without "output" leaves `structuredContent` out.
   */
  readonly format?: Format
  /** Returns the questions to ask first. Called on every round, in every revision; must change nothing. */
  ask?(input: OutputOf<S>, answers: Params, call: Call): A | Promise<A>
  /** Runs once, when every question is answered. */
  run(input: OutputOf<S>, context: ToolContext<A>): RunReturn<O> | Promise<RunReturn<O>>
}

/** Members of a tool's `_meta` that say what it has to do with apps. */
export interface ToolUi {
  readonly toolMeta: Params
}
/** A page that shows the results of a tool. It is served with the tool. */
export type ToolPage = ToolUi & Resource

/** A tool that is ready for a server definition. */
export interface Tool extends Target {
  readonly kind: 'tool'
  readonly ui?: ToolPage | ToolUi | undefined
  /** The entry in `tools/list` for the newest revision. */
  readonly entry: ToolEntry
}
export interface ToolEntry {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly inputSchema: Params
  readonly outputSchema?: Params
  readonly annotations?: ToolAnnotations
  readonly icons?: readonly Icon[]
  readonly _meta?: Params
}

/** The names that the specification allows. Clients refuse whole lists over one bad name. */
export const legalName: RegExp = /^[A-Za-z0-9_.-]{1,128}$/

export function assertName(kind: string, name: unknown, description: unknown): asserts name is string {
  if (typeof name !== 'string' || !legalName.test(name))
    throw new TypeError(`${kind} ${JSON.stringify(name)}: a name has 1 to 128 letters, digits, "_", "-" or "."`)
  if (typeof description !== 'string' || description.trim() === '')
    throw new TypeError(`${kind} "${name}": add a description; models choose by it`)
}

const noArguments: Params = { type: 'object', additionalProperties: false }

/**
 * Defines a tool that a model can call: `tool({ name, description, input, run })`. `run` gets the checked, typed input,
 * once.
 */
export function tool<
  S extends Schema = Schema<Record<never, never>>,
  O extends Schema | undefined = undefined,
  A extends Asks = Record<never, never>,
>(definition: ToolDefinition<S, O, A>): Tool {
  const { name, title, description, input, output, annotations, icons, meta, approval = 'never', format } = definition
  const { approvalArguments, effect, ui } = definition
  assertName('tool', name, description)
  const where = `tool "${name}"`
  if (approval !== 'never' && !effect && !definition.stateless)
    throw new TypeError(
      `${where}: a tool with "approval" needs "effect", which says what a call acts on, or "stateless: true"`,
    )
  const inInput = `${where}, input`
  const ownSchema = input ? toObjectSchema(input, inInput) : noArguments
  const withFormat = format?.argument.extend(ownSchema, inInput) ?? ownSchema
  const inputSchema = approvalArguments?.extend(withFormat, inInput) ?? withFormat
  const outputSchema = output && toJsonSchema(output, 'output', `${where}, output`)
  const headers = headerParams(inputSchema, inInput)
  const entry: ToolEntry = {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema,
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations }),
    ...(icons && { icons }),
    ...((meta || ui) && { _meta: { ...meta, ...ui?.toolMeta } }),
  }
  const policy = policyOf(definition, where, {
    approval: typeof approval === 'function' ? 'depends' : approval,
    readOnly: annotations?.readOnlyHint === true,
  })

  /** Makes the work of one call. The typed input lives in this closure. */
  function ready(value: OutputOf<S>, toon: boolean): Ready {
    return {
      /** Returns without a promise if the tool does, because most tools answer at once. */
      run(call, answers) {
        try {
          const returned: unknown = definition.run(value, toolContextOf<A>(call, answers))
          if (output || isThenable(returned)) return settle(returned, call, toon)
          return applyFormat(toResult(returned, call), toon)
        } catch (thrown) {
          throw crashed(thrown)
        }
      },
      ask: definition.ask && askWith((answers, call) => definition.ask?.(value, answers, call)),
      effect: effect && (async (call) => effect.call(definition, value, toolContextOf<A>(call, call.answers))),
      needsApproval:
        typeof approval === 'function' ? async (call) => (await approval(value, call)) !== false : undefined,
    }
  }
  async function settle(returned: unknown, call: Call, toon: boolean): Promise<Result> {
    try {
      const settled = await returned
      return applyFormat(output ? await toCheckedResult(settled, output, call) : toResult(settled, call), toon)
    } catch (thrown) {
      throw crashed(thrown)
    }
  }
  const applyFormat = (result: Result, toon: boolean): Result => (toon && format ? format(result, !!output) : result)
  const crashed = (thrown: unknown): RpcError =>
    thrown instanceof RpcError
      ? thrown
      : new RpcError('toolCrashed', `Tool execution failed: ${name}`, { cause: thrown })
  return {
    kind: 'tool',
    name,
    policy,
    entry,
    ui,
    ...(headers.length > 0 && { headers }),
    asks: definition.ask !== undefined,
    ...(definition.asksWhileRunning && { asksWhileRunning: 'required' as const }),
    task: definition.task,
    taskAfterMs: definition.taskAfterMs,
    ...(approvalArguments && { approvalArguments }),
    prepare(received) {
      const raw = approvalArguments ? approvalArguments.without(received) : received
      if (!format) return check(raw, false)
      const { args, toon } = format.extract(raw)
      return check(args, toon)
    },
  }
  function check(args: unknown, toon: boolean): Ready | ArgumentIssues | Promise<Ready | ArgumentIssues> {
    if (!input)
      return isObject(args) && Object.keys(args).length === 0 ? ready({} as OutputOf<S>, toon) : unexpectedArguments
    const parsed = validateInput(input, inputSchema, args)
    return parsed instanceof Promise
      ? parsed.then((settled) => conclude(settled, args, toon))
      : conclude(parsed, args, toon)
  }
  function conclude(parsed: StandardSchemaV1.Result<unknown>, args: unknown, toon: boolean): Ready | ArgumentIssues {
    return parsed.issues
      ? { issues: toIssues(parsed.issues, inputSchema, args) }
      : ready(parsed.value as OutputOf<S>, toon)
  }
}

const unexpectedArguments: ArgumentIssues = {
  issues: [{ code: 'UNEXPECTED_PARAMETER', message: 'This tool takes no arguments', hint: 'Pass {} as arguments.' }],
}

const isThenable = (returned: unknown): boolean =>
  typeof returned === 'object' && returned !== null && 'then' in returned

const isToolResult = (returned: unknown): returned is ToolResult =>
  isObject(returned) && Array.isArray(returned['content'])

function toResult(returned: unknown, call: Call): Result {
  if (isToolResult(returned) || Array.isArray(returned)) {
    assertSendable(returned, call)
    const whole: Params = isToolResult(returned) ? { ...returned } : { content: returned }
    const { content, structuredContent, isError = false, _meta } = whole
    if (typeof isError !== 'boolean') throw new TypeError('isError must be true or false')
    if (!hasMeta(whole)) throw new TypeError('_meta must be an object')
    return {
      content: Array.isArray(content) ? content.map(toWireBlock) : [],
      isError,
      ...(structuredContent !== undefined && { structuredContent }),
      ...(_meta !== undefined && { _meta }),
    }
  }
  if (isObject(returned)) return toStructuredResult(returned, call)
  assertSendable(returned, call)
  if (typeof returned === 'string') return { content: [{ type: 'text', text: returned }], isError: false }
  throw new TypeError(
    `run returned ${returned === null ? 'null' : typeof returned}; return text, content blocks or an object`,
  )
}

function toStructuredResult(value: unknown, call: Call): Result {
  assertSendable(value, call, false)
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value, isError: false }
}

/** Checks a result against the output schema. A result that breaks it is a bug of the tool, and is not sent. */
async function toCheckedResult(returned: unknown, output: Schema, call: Call): Promise<Result> {
  const whole = isToolResult(returned) ? returned : undefined
  if (whole?.isError) return toResult(whole, call)
  const parsed = await output['~standard'].validate(whole ? whole.structuredContent : returned)
  if (parsed.issues)
    throw new TypeError(
      `run returned a value its output schema refuses: ${parsed.issues[0]?.message ?? 'no reason given'}`,
    )
  return whole ? toResult({ ...whole, structuredContent: parsed.value }, call) : toStructuredResult(parsed.value, call)
}
