/**
 * Calls that people make at the console, to try a tool. Each goes through the whole pipeline of its server as an API key,
 * so that scopes, limits and approvals apply, and the audit names the person.
 */

import type { Params, Via } from 'sluice'
import { RpcError } from 'sluice'
import type { EndedCall, Observer } from 'sluice/extend'
import { actAsKey, frame, isObject, metaKeys, modernRevision } from 'sluice/internal'
import type { KeySummary, RouteInput, ToolAttempt } from '../api/index.ts'
import type { ConsoleState, WatchedServer } from './console-state.ts'
import type { ConsoleCaller } from './handlers.ts'
import { failureMessage } from './live-stats.ts'
import { keyOf } from './tenants.ts'

interface Attempt {
  readonly by: string
  ended?: EndedCall
}

const attempts = new WeakMap<Via, Attempt>()

/** Names the person in the record of the call, and keeps how it ended. */
export const attemptObserver: Required<Pick<Observer, 'arrived' | 'ended'>> = {
  arrived(call) {
    const attempt = attempts.get(call.via)
    if (attempt) call.facts['by'] = attempt.by
  },
  ended(event) {
    const attempt = attempts.get(event.call.via)
    if (attempt) attempt.ended = event
  },
}

const maxAnswerChars = 100_000

/** Runs a tool as a key, for an operator who may see that key. */
export async function tryTool(
  consoleState: ConsoleState,
  { operator, credential }: ConsoleCaller,
  input: RouteInput<'tryTool'>,
): Promise<ToolAttempt> {
  const { tool, key: keyId, tenant } = input
  const server = consoleState.servers.find(({ name }) => name === input.server)
  if (!server?.attached || !isTool(server, tool)) throw new RpcError('resourceNotFound', 'This tool does not exist')
  const args = parseArguments(input.arguments)
  const key = server.authenticated ? await usableKey(consoleState, operator.tenants, keyId) : undefined
  const tenants = key?.tenants ?? []
  if (tenant !== undefined && !tenants.includes(tenant))
    throw new RpcError('invalidParams', '"tenant" must be one of the tenants of the key')
  const via: Via = {
    ...{ transport: 'memory', peer: 'console' },
    header: (name) => (key && name.toLowerCase() === 'authorization' ? 'Bearer console' : undefined),
  }
  const attempt: Attempt = { by: operator.name }
  attempts.set(via, attempt)
  if (key) actAsKey(via, key.id)
  const entry = { server: server.name, tool, ...(key && { key: key.id, subject: key.subject }) }
  consoleState.audit?.record(tenant ?? tenants[0] ?? 'default', 'tool tried', {
    ...{ ...entry, by: operator.name, credential },
  })
  const unwatch = consoleState.layerTimes.watch()
  try {
    const reply = await server.attached.handle(messageOf(tool, args, tenant), { via })
    return toAttempt(consoleState, reply, attempt.ended)
  } finally {
    unwatch()
  }
}

const isTool = (server: WatchedServer, tool: string): boolean =>
  (server.definition().tools ?? []).some(({ name }) => name === tool)

/** A key that also opens a tenant of others would let an operator act there. */
async function usableKey(
  consoleState: ConsoleState,
  tenants: readonly string[],
  id: string | undefined,
): Promise<KeySummary> {
  if (id === undefined) throw new RpcError('invalidParams', 'Choose the "key" to run the tool as')
  const key = await keyOf(consoleState, tenants, id)
  if (key.revoked !== undefined || (key.expires ?? Number.POSITIVE_INFINITY) <= consoleState.clock.now())
    throw new RpcError('conflict', 'This key was revoked or has expired: choose another')
  return key
}

/**
 * Parses the arguments as transports parse a message. Otherwise a rounded number or a repeated member would run, and not
 * what was typed. They are framed as one item, because a number of the outermost object would be refused as an id.
 */
function parseArguments(text: string): Params {
  let items: unknown
  try {
    items = frame(`[${text}]`)
  } catch (thrown) {
    const problem = thrown instanceof RpcError && thrown.reason !== 'parseError' ? thrown.message : 'not JSON'
    throw new RpcError('invalidParams', `"arguments" cannot be used: ${problem}`)
  }
  const [value, ...others] = Array.isArray(items) ? items : []
  if (!isObject(value) || others.length > 0) throw new RpcError('invalidParams', '"arguments" must be a JSON object')
  return value
}

const messageOf = (name: string, args: Params, tenant: string | undefined): Params => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
  params: {
    ...{ name, arguments: args },
    _meta: {
      [metaKeys.version]: modernRevision,
      [metaKeys.capabilities]: {},
      [metaKeys.client]: { name: 'sluice-console', version: '1' },
      // A header could have another name, this member cannot.
      ...(tenant !== undefined && { 'dev.sluice/tenant': tenant }),
    },
  },
})

function toAttempt(
  { layerTimes }: ConsoleState,
  reply: object | readonly object[] | null,
  ended: EndedCall | undefined,
): ToolAttempt {
  const body: Params = isObject(reply) ? reply : {}
  const text = JSON.stringify(body['error'] ?? body['result'] ?? null, undefined, 2)
  // Removes a lone surrogate at the cut.
  const answer = text.slice(0, maxAnswerChars).replace(/[\uD800-\uDBFF]$/, '')
  const path = ended && layerTimes.pathOf(ended.call.facts)
  const ticket = ended?.call.facts['ticket']
  const message = ended?.failed ? failureMessage(ended) : undefined
  return {
    ...{ answer, isWhole: answer === text },
    outcome: ended?.outcome ?? 'rejected',
    failed: ended?.failed ?? true,
    durationMs: ended?.durationMs ?? 0,
    ...(typeof ticket === 'string' && { ticket }),
    ...(message !== undefined && { message }),
    ...(path && { layers: path.layers, endedBy: path.endedBy }),
  }
}
