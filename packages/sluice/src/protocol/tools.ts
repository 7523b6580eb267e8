/** `tool()`: where `unknown` becomes a type. Past it nobody casts. */

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
/** Text, content blocks, a whole result, or a plain object: that becomes `structuredContent` and a text block. */
export type ToolOutput = string | readonly ContentBlock[] | ToolResult | PlainObject
/** An object, also one whose type is an interface; no array, map or set. */
type PlainObject = object & { readonly [Symbol.iterator]?: never }

/**
 * What `run` may return: with an `output` schema exactly that, checked before it leaves. The intersection keeps literals
 * from widening: without it the whole union would be `unknown` to the compiler while it infers.
 */
type RunReturn<O extends Schema | undefined> = O extends Schema
  ? (InputOf<O> & (NonNullable<unknown> | null)) | ToolResult
  : ToolOutput

/** What `effect` may look at. */
export type EffectContext<A extends Asks = Record<never, never>> = Pick<
  ToolContext<A>,
  'call' | 'caller' | 'answers' | 'store' | 'signal'
>

/** What `tool` takes. */
export interface ToolDefinition<S extends Schema, O extends Schema | undefined, A extends Asks> {
  readonly name: string
  readonly title?: string
  readonly description: string
  /** Left out: the tool takes no arguments. */
  readonly input?: S
  readonly output?: O
  readonly annotations?: ToolAnnotations
  readonly icons?: readonly Icon[]
  readonly meta?: Params
  /** All of these are needed to see and call it. */
  readonly scopes?: readonly string[]
  /** In lists for everybody; a call without the scopes is then challenged for them. */
  readonly listed?: boolean
  /** Anything but exactly `false` means yes; a function that throws means yes. */
  readonly approval?: 'never' | 'always' | ((input: OutputOf<S>, call: Call) => boolean | Promise<boolean>)
  /**
   * States what the call will act on, for the person who approves it: `({ Workspace: 'scratch', Memories: 214 })`. Called
   * when an approval is asked for and again right before `run`; if a value changed, the approval is void. Otherwise an
   * approval could be spent on something the approver never saw. Must change nothing.
   */
  effect?(input: OutputOf<S>, context: EffectContext<A>): Effect | Promise<Effect>
  /** Instead of `effect`, for a gated tool: the arguments alone say what it acts on, whatever state the server is in. */
  readonly stateless?: true
  /** Adds the arguments `approval_request_id` and `approved`: `approvalArguments` from `sluice/approvals`. */
  readonly approvalArguments?: ReservedArguments
  readonly timeoutMs?: number
  /**
   * Whether a call may be answered with a task, which the client then polls: needs `tasks()` in "use". `auto`: if the work
   * takes longer than `taskAfterMs` and the client knows tasks; `always`: other clients are refused. `never` by default.
   */
  readonly task?: TaskMode
  /** How long a call waits for its result before it becomes a task: 2 s by default, 0 to become one at once. */
  readonly taskAfterMs?: number
  /** Adds the argument `format: json | toon`, for the text of structured results. Pays for many uniform rows, see `format.ts`. */
  readonly format?: Format
  /** What to ask first. Called on every round, in every revision; must change nothing. */
  ask?(input: OutputOf<S>, given: Params, call: Call): A | Promise<A>
  /** Runs once, when everything is answered. */
  run(input: OutputOf<S>, work: ToolContext<A>): RunReturn<O> | Promise<RunReturn<O>>
}

/** A tool that is ready to stand in a definition. */
export interface Tool extends Target {
  readonly kind: 'tool'
  /** As `tools/list` shows it to the newest revision. */
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

/** What the specification asks of names; clients refuse whole lists over one bad name. */
const legalName = /^[A-Za-z0-9_.-]{1,128}$/

export function assertName(kind: string, name: unknown, description: unknown): asserts name is string {
  if (typeof name !== 'string' || !legalName.test(name))
    throw new TypeError(`${kind} ${JSON.stringify(name)}: a name has 1 to 128 letters, digits, "_", "-" or "."`)
  if (typeof description !== 'string' || description.trim() === '')
    throw new TypeError(`${kind} "${name}": add a description; models choose by it`)
}

const noArguments: Params = { type: 'object', additionalProperties: false }

/**
 * Something a model can call: `tool({ name, description, input, run })`. `run` gets the input checked and typed, once.
 */
export function tool<
  S extends Schema = Schema<Record<never, never>>,
  O extends Schema | undefined = undefined,
  A extends Asks = Record<never, never>,
>(definition: ToolDefinition<S, O, A>): Tool {
  const { name, title, description, input, output, annotations, icons, meta, approval = 'never', format } = definition
  const { approvalArguments, effect } = definition
  assertName('tool', name, description)
  const where = `tool "${name}"`
  if (approval !== 'never' && !effect && !definition.stateless)
    throw new TypeError(
      `${where}: a tool with "approval" needs "effect", which says what a call acts on, or "stateless: true"`,
    )
  const inInput = `${where}, input`
  const ownSchema = input ? toObjectSchema(input, inInput) : noArguments
  const formatted = format?.argument.extend(ownSchema, inInput) ?? ownSchema
  const inputSchema = approvalArguments?.extend(formatted, inInput) ?? formatted
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
    ...(meta && { _meta: meta }),
  }
  const policy = policyOf(definition, where, {
    approval: typeof approval === 'function' ? 'depends' : approval,
    readOnly: annotations?.readOnlyHint === true,
  })

  /** The parsed input lives in this closure, typed. */
  function ready(value: OutputOf<S>, toon: boolean): Ready {
    return {
      run: (call, given) => run(value, call, given, toon),
      ask: definition.ask && askWith((given, call) => definition.ask?.(value, given, call)),
      effect: effect && (async (call) => effect.call(definition, value, toolContextOf<A>(call, call.answers))),
      needsApproval:
        typeof approval === 'function' ? async (call) => (await approval(value, call)) !== false : undefined,
    }
  }
  /** Most tools answer at once, and then there is nothing to wait for. */
  function run(value: OutputOf<S>, call: Call, given: Params, toon: boolean): Result | Promise<Result> {
    try {
      const returned: unknown = definition.run(value, toolContextOf<A>(call, given))
      return output || isThenable(returned) ? late(returned, call, toon) : written(toResult(returned, call), toon)
    } catch (thrown) {
      throw crashed(thrown)
    }
  }
  async function late(returned: unknown, call: Call, toon: boolean): Promise<Result> {
    try {
      const settled = await returned
      return written(output ? await toCheckedResult(settled, output, call) : toResult(settled, call), toon)
    } catch (thrown) {
      throw crashed(thrown)
    }
  }
  const written = (result: Result, toon: boolean): Result => (toon && format ? format(result) : result)
  const crashed = (thrown: unknown): RpcError =>
    thrown instanceof RpcError
      ? thrown
      : new RpcError('toolCrashed', `Tool execution failed: ${name}`, { cause: thrown })
  return {
    kind: 'tool',
    name,
    policy,
    entry,
    ...(headers.length > 0 && { headers }),
    asks: definition.ask !== undefined,
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
    return parsed instanceof Promise ? parsed.then((late) => conclude(late, args, toon)) : conclude(parsed, args, toon)
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

/** A result that breaks the tool's own promise is a bug of the tool, not something to pass on. */
async function toCheckedResult(returned: unknown, output: Schema, call: Call): Promise<Result> {
  const whole = isToolResult(returned) ? returned : undefined
  if (whole?.isError) return toResult(whole, call)
  const parsed = await output['~standard'].validate(whole ? whole.structuredContent : returned)
  if (parsed.issues)
    throw new TypeError(
      `run returned what its output schema refuses: ${parsed.issues[0]?.message ?? 'no reason given'}`,
    )
  return whole ? toResult({ ...whole, structuredContent: parsed.value }, call) : toStructuredResult(parsed.value, call)
}
