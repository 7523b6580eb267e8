/**
 * Encodes answers and refusals. Only this file decides, by reason and method, which refusals are sent as JSON-RPC
 * errors. The others are sent as tool error results, which the model reads.
 */

import type { Answer, Result } from '../core/answer.ts'
import { Prepared } from '../core/answer.ts'
import type { WireError } from '../core/error.ts'
import { codeOf, RpcError, reasonOf, toWire } from '../core/error.ts'
import type { Id, Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { ArgumentIssue } from '../core/target.ts'
import { projectResult } from './project.ts'
import type { Features } from './revisions.ts'
import { metaKeys } from './revisions.ts'

/** The reply to one request, as a value. */
export type Reply =
  | { readonly id: Id; readonly method: string; readonly features: Features; readonly answer: Answer }
  | { readonly id: Id | undefined; readonly error: WireError }

/** The error codes that clients get: those of MCP, or those of plain JSON-RPC servers (before 2026-07-28 only). */
export type ErrorStyle = 'mcp' | 'json-rpc'

export interface Encoder {
  toText(reply: Reply): string
  toObject(reply: Reply): object
}

/** Creates an encoder. `serverInfo` is on every result of 2026-07-28, so its text is made once. */
export function createEncoder(serverInfo: Params): Encoder {
  const server = JSON.stringify(serverInfo)
  const metaText = `"_meta":{${JSON.stringify(metaKeys.server)}:${server}}`
  const stamped = (result: Result): Result => ({
    resultType: 'complete',
    ...result,
    _meta: { ...(isObject(result['_meta']) && result['_meta']), [metaKeys.server]: serverInfo },
  })
  return {
    toText(reply) {
      if ('error' in reply) return errorText(reply.id, reply.error)
      const { id, answer, features, method } = reply
      const head = `{"jsonrpc":"2.0","id":${typeof id === 'number' ? id : JSON.stringify(id)},"result":`
      if (answer instanceof Prepared) return `${head}${answer.json}}`
      if (features.era === 'legacy') return `${head}${JSON.stringify(projectResult(method, answer, features))}}`
      if ('_meta' in answer || 'resultType' in answer) return `${head}${JSON.stringify(stamped(answer))}}`
      return `${head}{"resultType":"complete",${membersOf(answer)}${metaText}}}`
    },
    toObject(reply) {
      if ('error' in reply) return errorObject(reply.id, reply.error)
      const { id, answer, features, method } = reply
      const result =
        answer instanceof Prepared
          ? (JSON.parse(answer.json) as object)
          : features.era === 'legacy'
            ? projectResult(method, answer, features)
            : stamped(answer)
      return { jsonrpc: '2.0', id, result }
    },
  }
}

/** Prints the members, each with a comma after it. Most results are one text, which a template prints in half the time. */
function membersOf(answer: Result): string {
  const { content, isError } = answer
  if (isError === false && Array.isArray(content) && content.length === 1 && hasTwoMembers(answer)) {
    const [block] = content
    if (isObject(block) && block['type'] === 'text' && typeof block['text'] === 'string' && hasTwoMembers(block))
      return `"content":[{"type":"text","text":${JSON.stringify(block['text'])}}],"isError":false,`
  }
  const body = JSON.stringify(answer)
  return body === '{}' ? '' : `${body.slice(1, -1)},`
}
const hasTwoMembers = (value: object): boolean => Object.keys(value).length === 2

/** Omits an id that could not be read, because `null` fits no revision's schema. */
const errorObject = (id: Id | undefined, error: WireError): object =>
  id === undefined ? { jsonrpc: '2.0', error } : { jsonrpc: '2.0', id, error }

export const errorText = (id: Id | undefined, error: WireError): string => JSON.stringify(errorObject(id, error))

/** Maximum characters of the answers to one batch, because a few kilobytes of it can request megabytes. */
const maxBatchText = 1024 * 1024

/**
 * Joins the replies of a batch. A reply that no longer fits is replaced by an error, so that each message has its
 * answer. The first always fits.
 */
export function batchText(
  replies: readonly Reply[],
  toText: (reply: Reply) => string,
  reference: () => string,
): string {
  let size = 0
  const texts = replies.map((reply) => {
    const text = toText(reply)
    if (size > 0 && size + text.length > maxBatchText) return errorText(reply.id, tooLarge(reply, reference()))
    size += text.length
    return text
  })
  return `[${texts.join(',')}]`
}

function tooLarge(reply: Reply, reference: string): WireError {
  const ran = 'method' in reply && reply.method === 'tools/call'
  const problem = `The answers of this batch are longer than ${maxBatchText} characters. `
  const advice = ran ? 'The tool has run; send such calls alone' : 'Send this message alone'
  return toWire(new RpcError('payloadTooLarge', problem + advice), 'legacy', reference)
}

/** Reasons that concern the model. Inside `tools/call` they are results that it can read and act on. */
const modelReasons: ReadonlySet<string> = new Set([
  'toolFailed',
  'toolCrashed',
  'resultTooLarge',
  'upstreamUnavailable',
  'upstreamInDoubt',
  'invalidArguments',
  'approvalDenied',
  'approvalVoid',
  'timeout',
])

/** Returns whether a refusal leaves as a tool error result, which has no code. */
export const leavesAsResult = (method: string, reason: string): boolean =>
  method === 'tools/call' && modelReasons.has(reason)

export interface FailedRequest {
  readonly id: Id
  readonly method: string
  readonly features: Features
  readonly thrown: unknown
  readonly reference: string
  readonly style: ErrorStyle
}

/** Converts a thrown value into the reply to a request. */
export function errorReply({ id, method, features, thrown, reference, style }: FailedRequest): Reply {
  const plain = style === 'json-rpc' && features.era === 'legacy'
  const reason = reasonOf(thrown)
  if (thrown instanceof RpcError && leavesAsResult(method, reason) && (!plain || reason === 'toolFailed'))
    return { id, method, features, answer: toolError(thrown, reference) }
  const error = toWire(thrown, features.era, reference)
  if (plain && thrown instanceof RpcError && reason === 'unknownTool')
    return {
      id,
      error: {
        ...error,
        code: codeOf('methodNotFound', 'legacy'),
        message: error.message.replace(/^Unknown tool/, 'Tool not found'),
      },
    }
  if (plain && reason === 'invalidArguments')
    return { id, error: { ...error, data: { ...firstIssue(error.data), ...error.data } } }
  return { id, error }
}

const firstIssue = ({ issues }: Params): Params => (Array.isArray(issues) && isObject(issues[0]) ? issues[0] : {})

/** Returns text for the model, and the same for programs under Sluice's `_meta` key. */
function toolError({ reason, message, data }: RpcError, reference: string): Result {
  const text = reason === 'toolCrashed' ? `${message}. Reference: ${reference}` : message
  return {
    content: [{ type: 'text', text }],
    isError: true,
    ...(reason !== 'toolFailed' && { _meta: { 'dev.sluice/error': { reason, reference, ...data } } }),
  }
}

/** Returns a refusal of arguments, worded so that a model can correct them. */
export function invalidArguments(name: string, issues: readonly ArgumentIssue[]): RpcError {
  const lines = issues.map(
    ({ param, message, hint }) => `- ${param ? `${param}: ` : ''}${message}${hint ? ` (${hint})` : ''}`,
  )
  return new RpcError('invalidArguments', [`Invalid params for ${name}:`, ...lines].join('\n'), { data: { issues } })
}
