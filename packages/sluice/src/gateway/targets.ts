/**
 * The definitions of an upstream as targets of ours. They are made directly and not through `tool()`: arguments pass
 * through unchecked, because the upstream checks them, and results are relayed without judging them.
 */

import type { Answer, Result } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { definitionHash } from '../core/definition-hash.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Effect, PresetArguments, Ready } from '../core/target.ts'
import { parseTemplate } from '../core/uri-template.ts'
import { withObjectProperties } from '../json-schema/listed.ts'
import { assertSendable } from '../protocol/assert-sendable.ts'
import type { Completers, Completion } from '../protocol/completion.ts'
import { completion } from '../protocol/completion.ts'
import { policyOf } from '../protocol/policy.ts'
import type { Prompt } from '../protocol/prompts.ts'
import { createResourceList } from '../protocol/resource-list.ts'
import type { Resource } from '../protocol/resources.ts'
import { headerParams } from '../protocol/schema.ts'
import type { Tool, ToolEntry } from '../protocol/tools.ts'
import { legalName } from '../protocol/tools.ts'
import type { CalledDefinition } from './connection-check.ts'
import { cleanIcons, withCleanMeta } from './hygiene.ts'
import { idOf } from './pinned.ts'
import { presetArguments } from './preset-arguments.ts'
import type { Relay, RelayRequest } from './relay.ts'
import { assertResult } from './relay.ts'
import type { ToolSettings } from './rules.ts'
import type { UriNames } from './skill-uris.ts'
import { withShownUris } from './skill-uris.ts'

export interface TargetContext {
  readonly upstream: string
  readonly relay: Relay
  readonly trustHints: boolean
  readonly completes: boolean
  /** Returns the pin of a served definition; `undefined` if definitions are not pinned. */
  readonly pinOf: (id: string) => CalledDefinition | undefined
  readonly isQuarantinedUri: (uri: string) => boolean
  /** Inspects an answer before it leaves, for the endpoint for all. */
  readonly outgoing?: (answer: Result) => Result
  /** How the endpoint writes the upstream's URIs. */
  readonly uris: UriNames
}

const readPolicy = policyOf({ timeoutMs: 60_000 }, 'upstream', { readOnly: true })

const sent = (context: TargetContext, answer: Result, member: string): Answer => {
  const checked = withShownUris(assertResult(answer, member, context.upstream) as Result, context.uris)
  return context.outgoing ? context.outgoing(checked) : checked
}

/** Refuses an answer that is larger than the server lets a definition return. */
function measured(answer: Result, call: Call): Result {
  assertSendable(answer, call, false)
  return answer
}

/** Returns the work of a request. A question of the upstream is the answer of this round. */
const relayed =
  (context: TargetContext, request: RelayRequest, finish: (answer: Result, call: Call) => Answer): Ready['run'] =>
  (call) =>
    context
      .relay(call, request)
      .then((answer) => (answer.resultType === 'input_required' ? answer : finish(answer, call)))

/** Returns the entry with clean `_meta` and icons. All other members are kept as they are. */
function cleanEntry(entry: Params): Params {
  const clean = withCleanMeta(entry)
  if (!('icons' in clean)) return clean
  const { icons, ...rest } = clean
  const kept = cleanIcons(icons)
  return kept ? { ...rest, icons: kept } : rest
}

/** Makes the target of a tool. Throws a `TypeError` with the reason if clients could not use it. */
export function toolTarget(entry: Params, name: string, settings: ToolSettings, context: TargetContext): Tool {
  const { upstream, trustHints } = context
  const original = entry['name']
  assertEntry(entry, name)
  const { inputSchema, execution } = entry
  if (!isObject(inputSchema) || inputSchema['type'] !== 'object')
    throw new TypeError('its input schema is not an object schema')
  const { schema, preset } = presetArguments(name, inputSchema, settings)
  const headers = headerParams(schema, 'its input schema')
  const asTask = isObject(execution) && execution['taskSupport'] === 'required'
  const { execution: _, ...listed } = cleanEntry(entry)
  const { policy, format, relaysQuestions, describe, maxResultLength = Number.POSITIVE_INFINITY } = settings
  const called = context.pinOf(idOf('tool', String(original)))
  const finish = (answer: Result, call: Call): Answer => {
    const formatted = format ? format(answer, entry['outputSchema'] !== undefined) : answer
    assertSendable(formatted, { maxResultLength: Math.min(maxResultLength, call.maxResultLength) }, false)
    return sent(context, formatted, 'content')
  }
  const target: Tool = {
    kind: 'tool',
    name,
    policy,
    // The members that a client reads were checked above. Further ones are the upstream's own.
    entry: {
      ...listed,
      name,
      ...(describe !== undefined && { description: describe }),
      inputSchema: withObjectProperties(schema),
      ...(isObject(listed['outputSchema']) && { outputSchema: withObjectProperties(listed['outputSchema']) }),
    } as unknown as ToolEntry,
    ...(called && { pin: called.hash }),
    hintsAreClaims: !trustHints,
    upstream,
    asksWhileRunning: 'possible',
    ...(headers.length > 0 && { headers }),
    ...(preset && { preset }),
    prepare: (args): Ready => ({
      effect: () => Promise.resolve(effect),
      run: relayed(
        context,
        { method: 'tools/call', params: { name: original, arguments: args }, asTask, relaysQuestions, called },
        finish,
      ),
    }),
  }
  /** The gateway cannot know what a foreign tool acts on, and the person who decides is told so. */
  const effect: Effect = {
    Upstream: upstream,
    Definition: definitionHash(target).slice(0, 16),
    Effect: 'unknown',
    ...(preset && { 'Set by the operator': presetNames(preset).join(', ') }),
    ...(relaysQuestions && {
      Questions: 'The upstream may ask during the call. This approval does not cover the answers.',
    }),
  }
  return target
}

const presetNames = ({ values }: PresetArguments): readonly string[] =>
  Object.values(values).flatMap((each) => (isObject(each) ? Object.keys(each) : []))

export function promptTarget(entry: Params, name: string, context: TargetContext): Prompt {
  assertEntry(entry, name)
  const { name: original, arguments: parameters } = entry
  const called = context.pinOf(idOf('prompt', String(original)))
  const names = (Array.isArray(parameters) ? parameters : []).flatMap((parameter: unknown) =>
    isObject(parameter) && typeof parameter['name'] === 'string' ? [parameter['name']] : [],
  )
  return {
    kind: 'prompt',
    name,
    upstream: context.upstream,
    policy: readPolicy,
    entry: { ...cleanEntry(entry), name },
    asksWhileRunning: 'possible',
    complete: completersOf(names, { type: 'ref/prompt', name: original }, context),
    completion: relayedCompletion,
    prepare: (args): Ready => ({
      run: relayed(
        context,
        { method: 'prompts/get', params: { name: original, arguments: args }, called },
        (answer, call) => sent(context, measured(answer, call), 'messages'),
      ),
    }),
  }
}

/** Makes the target of a resource, or of all resources of a template. `uri` is its URI for clients. */
export function resourceTarget(entry: Params, uri: string, context: TargetContext): Resource {
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:/.test(uri) || uri.length > 4096)
    throw new TypeError('its URI has no scheme or is too long')
  if (typeof entry['name'] !== 'string') throw new TypeError('it has no name')
  const { uriTemplate } = entry
  const template = uriTemplate === undefined ? undefined : parseTemplate(uri)
  const called = template && context.pinOf(idOf('template', String(uriTemplate)))
  return {
    kind: 'resource',
    name: uri,
    upstream: context.upstream,
    policy: readPolicy,
    entry: { ...cleanEntry(entry), ...(template ? { uriTemplate: uri } : { uri }) },
    asksWhileRunning: 'possible',
    template,
    complete: template ? completersOf(template.names, { type: 'ref/resource', uri: uriTemplate }, context) : {},
    completion: relayedCompletion,
    createList: createResourceList,
    list: undefined,
    prepare: (args): Ready => ({
      run: relayed(
        context,
        { method: 'resources/read', params: { uri: context.uris.original(String(args)) }, called },
        (answer, call) => sent(context, { ttlMs: 0, cacheScope: 'private', ...measured(answer, call) }, 'contents'),
      ),
    }),
  }
}

/** Makes the target of a URI that the upstream did not list, such as one that a tool's result links to. */
export const linkedTarget = (uri: string, context: TargetContext): Resource => ({
  ...resourceTarget({ name: uri }, uri, context),
  // A limiter or a metric must not grow with every URI that a client makes up.
  name: '(linked)',
})

function assertEntry({ description, title }: Params, name: string): void {
  if (!legalName.test(name)) throw new TypeError('a name has 1 to 128 letters, digits, "_", "-" or "."')
  if (description !== undefined && typeof description !== 'string') throw new TypeError('its description is not text')
  if (title !== undefined && typeof title !== 'string') throw new TypeError('its title is not text')
}

/** The upstream's values, with how many there are in all. */
interface RelayedValues extends ReadonlyArray<string> {
  readonly total?: unknown
  readonly hasMore?: unknown
}

function completersOf(names: readonly string[], ref: Params, context: TargetContext): Completers {
  if (!context.completes) return {}
  const completer =
    (argument: string) =>
    async (value: string, chosen: { readonly [name: string]: string }, call: Call): Promise<RelayedValues> => {
      const params = {
        ref,
        argument: { name: argument, value },
        ...(Object.keys(chosen).length > 0 && { context: { arguments: chosen } }),
      }
      const { completion: found } = await context.relay(call, { method: 'completion/complete', params })
      if (!isObject(found) || !Array.isArray(found['values']))
        throw new RpcError('upstreamError', `${context.upstream} answered without a list of values`)
      const values = found['values'].filter((each): each is string => typeof each === 'string').slice(0, 100)
      return Object.assign(values, { total: found['total'], hasMore: found['hasMore'] })
    }
  return Object.fromEntries(names.map((name) => [name, completer(name)]))
}

/** Completion that keeps the upstream's own counts. */
const relayedCompletion: Completion = {
  parse: completion.parse,
  async complete(completers, request, call) {
    const completer = Object.hasOwn(completers, request.argument) ? completers[request.argument] : undefined
    const values: RelayedValues = (await completer?.(request.value, request.context, call)) ?? []
    const { total, hasMore } = values
    return {
      completion: {
        values: [...values],
        ...(typeof total === 'number' && { total }),
        ...(typeof hasMore === 'boolean' && { hasMore }),
      },
    }
  },
}
