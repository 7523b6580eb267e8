/**
 * A definition, compiled once for requests. It maps a method and its parameters to a target, and has lists ready to
 * send. It is immutable: a changed definition gets a new registry, and running calls keep theirs.
 */

import type { Answer, Result } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import type { StateChange } from '../core/connection-state.ts'
import type { Era } from '../core/error.ts'
import { invalidParams, missingCapability, RpcError } from '../core/error.ts'
import type { Hub } from '../core/hub.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { ExtraMethod, Resolution } from '../core/plugin.ts'
import type { Policy, Target } from '../core/target.ts'
import { toAscii } from '../core/uri-template-match.ts'
import type { Completion } from './completion.ts'
import type { ServerDefinition } from './definition.ts'
import type { Encoder, ErrorStyle } from './encode.ts'
import { createEncoder } from './encode.ts'
import { initialize } from './legacy/initialize.ts'
import type { List, VisibleNames } from './lists.ts'
import { createList } from './lists.ts'
import { parseLogLevel } from './logging.ts'
import { policyOf } from './policy.ts'
import { projectEntry, projectServerInfo, projectTool } from './project.ts'
import type { Prompt } from './prompts.ts'
import { unknownPrompt } from './prompts.ts'
import type { Resource } from './resources.ts'
import { resourceNotFound } from './resources.ts'
import type { Features } from './revisions.ts'
import { featuresOf, metaKeys, modernRevision, revisions } from './revisions.ts'
import { createListen, maxUriLength } from './subscriptions.ts'
import type { Tool } from './tools.ts'

type Resolve = (params: Params) => Resolution
type Run = (call: Call) => Answer | Promise<Answer>

export interface Registry {
  readonly encoder: Encoder
  /** Throws `methodNotFound` if this era or this server does not have the method. */
  resolve(method: string, params: Params, era: Era): Resolution
  /** Returns whether the method is a request. A request without an id must have no effect. */
  isRequest(method: string): boolean
  /** Returns the refusal of a target. One text covers a missing target and one that this caller may not see. */
  refusal(call: Call): RpcError
}

export interface RegistryOptions {
  readonly hub: Hub
  readonly pageSize: number
  readonly errors: ErrorStyle
  /** Methods that plugins add to the protocol. */
  readonly methods?: readonly ExtraMethod[]
}

const openPolicy = policyOf({}, 'method', { readOnly: true })
const streamPolicy: Policy = { ...openPolicy, timeoutMs: Number.POSITIVE_INFINITY }

/** Refused by `authorize` only, so that unknown and forbidden targets look the same and cost the same. */
const unknownTarget: Target = {
  kind: 'unknown',
  name: 'unknown',
  policy: openPolicy,
  prepare() {
    throw new RpcError('internalError', 'An unknown target was not refused')
  },
}

export function compileRegistry(
  definition: ServerDefinition,
  { hub, pageSize, errors, methods = [] }: RegistryOptions,
): Registry {
  const { instructions, listTtlMs: ttlMs = 0, isPrivate = false } = definition
  const tools: ReadonlyMap<string, Tool> = new Map(definition.tools?.map((tool) => [tool.name, tool]))
  const prompts: ReadonlyMap<string, Prompt> = new Map(definition.prompts?.map((prompt) => [prompt.name, prompt]))
  const fixed = new Map<string, Resource>()
  const templates: Resource[] = []
  for (const resource of definition.resources ?? [])
    if (resource.template) templates.push(resource)
    else fixed.set(resource.name, resource)

  const newest = revisions[modernRevision]
  const serverInfo = projectServerInfo(definition, newest)
  const serverMeta = { [metaKeys.server]: serverInfo }
  const list = (member: string, targets: Iterable<Tool | Prompt | Resource>, project: typeof projectEntry): List =>
    createList({
      member,
      items: [...targets].map(({ name, entry, policy }) => ({ name, entry: { ...entry }, ...policy })),
      ...{ pageSize, ttlMs, serverMeta, project, isPrivate },
    })
  const toolList = list('tools', tools.values(), projectTool)
  const promptList = list('prompts', prompts.values(), projectEntry)
  const templateList = list('resourceTemplates', templates, projectEntry)
  const fixedList = list('resources', fixed.values(), projectEntry)
  const lister = templates.find((template) => template.list)
  const resourceList: Run =
    lister?.createList(fixedList, templates, { ttlMs, serverMeta, pageSize }) ?? ((call) => listPage(fixedList, call))

  /**
   * Derived from the definition. `tools` is always present, because a server without tools has an empty list of them.
   */
  const capabilities = (features: Features): Params => ({
    tools: { listChanged: true },
    ...(definition.resources && { resources: { subscribe: true, listChanged: true } }),
    ...(definition.prompts && { prompts: { listChanged: true } }),
    ...(completable && features.completions && { completions: {} }),
    logging: {},
    ...(methods.length > 0 && { [features.extensions ? 'extensions' : 'experimental']: extensions }),
  })
  const extensions = Object.fromEntries(methods.map(({ extension }) => [extension, {}]))
  const completable = [...prompts.values(), ...templates].find(({ complete }) => Object.keys(complete).length > 0)

  const byName = (targets: ReadonlyMap<string, Target>, what: string, needsArguments = false): Resolve =>
    function resolveByName({ name, arguments: args }) {
      if (typeof name !== 'string') throw invalidParams(`missing ${what} name`)
      if (args === undefined && needsArguments) throw invalidParams('missing arguments')
      if (args !== undefined && !isObject(args)) throw invalidParams('arguments must be an object')
      return { target: targets.get(name) ?? unknownTarget, args: args ?? {} }
    }
  const resourceAt = (uri: string): Resource | undefined => {
    // Encoded once here instead of once per template.
    const text = toAscii(uri) ?? ''
    return (
      fixed.get(uri) ??
      templates.find(({ template }) => template?.match(text) !== undefined) ??
      definition.resourceAt?.(uri)
    )
  }
  const atUri: Resolve = (params) => {
    const uri = uriOf(params)
    return { target: unknownTarget, args: uri, find: () => resourceAt(uri) ?? unknownTarget }
  }
  /**
   * Makes a method with the target's scopes. Otherwise the method would reveal to other callers that the target exists.
   */
  const likeTarget = (name: string, target: Prompt | Resource | undefined, run: Run): Target =>
    target
      ? methodTarget(name, run, { ...openPolicy, scopes: target.policy.scopes, listed: target.policy.listed })
      : unknownTarget
  const completing =
    ({ parse, complete }: Completion): Resolve =>
    (params) => {
      const request = parse(params)
      const { kind, name } = request.ref
      const isNamed = (resource: Resource): boolean => resource.name === name
      const target = kind === 'prompt' ? prompts.get(name) : (templates.find(isNamed) ?? fixed.get(name))
      const suggest: Run = (call) => complete(target?.complete ?? {}, request, call)
      return { target: likeTarget('completion/complete', target, suggest), args: params }
    }
  const subscribing: Resolve = (params) => {
    const uri = uriOf(params)
    return {
      target: unknownTarget,
      args: params,
      find: () => likeTarget('resources/subscribe', resourceAt(uri), subscribeWatching),
    }
  }
  const subscribe = changing(({ tenant, params }) => ({ kind: 'subscribe', uri: uriOf(params), tenant: tenant.id }))
  const subscribeWatching: Run = (call) => {
    const { connection } = call.via
    const uri = uriOf(call.params)
    const isWanted = (): boolean => connection?.closed === false && connection.state.subscriptions.has(uri)
    // Ends by itself: `isWanted` is false once the client unsubscribes or its connection closes.
    if (!isWanted()) definition.watch?.(uri, call, isWanted)
    return subscribe(call)
  }
  const mayRead = (uri: string, { caller }: Call): boolean =>
    resourceAt(uri)?.policy.scopes.every((scope) => caller.scopes.has(scope)) ?? false

  const { unavailable } = definition
  const listEntry = (name: string, run: Run): [string, Resolve] =>
    methodEntry(name, unavailable ? () => Promise.reject(unavailable) : run)
  const shared: [string, Resolve][] = [
    listEntry('tools/list', (call) => listPage(toolList, call, call.tenant.tools)),
    ['tools/call', byName(tools, 'tool')],
  ]
  if (definition.resources)
    shared.push(
      listEntry('resources/list', resourceList),
      listEntry('resources/templates/list', (call) => listPage(templateList, call)),
      ['resources/read', atUri],
    )
  if (definition.prompts)
    shared.push(
      listEntry('prompts/list', (call) => listPage(promptList, call)),
      ['prompts/get', byName(prompts, 'prompt')],
    )
  if (completable) shared.push(['completion/complete', completing(completable.completion)])
  for (const { name, scopes, extension, run } of methods)
    shared.push(
      methodEntry(name, forDeclaring(extension, run), { ...openPolicy, scopes, listed: true, readOnly: false }),
    )

  const legacy = new Map<string, Resolve>([
    ...shared,
    ['tools/call', byName(tools, 'tool', errors === 'json-rpc')],
    methodEntry('initialize', initialize(definition, instructions, capabilities)),
    methodEntry('ping', () => ({})),
    methodEntry(
      'logging/setLevel',
      changing(({ params }) => ({ kind: 'level', level: parseLogLevel(params['level']) })),
    ),
  ])
  if (definition.resources)
    legacy.set('resources/subscribe', subscribing).set(
      // Accepts any URI, including one that no longer exists.
      ...methodEntry(
        'resources/unsubscribe',
        changing(({ params }) => ({ kind: 'unsubscribe', uri: uriOf(params) })),
      ),
    )
  const discovered: Result = {
    supportedVersions: [modernRevision],
    capabilities: capabilities(newest),
    ...(instructions !== undefined && { instructions }),
    ttlMs,
    cacheScope: isPrivate ? 'private' : 'public',
  }
  const modern = new Map<string, Resolve>([
    ...shared,
    methodEntry('server/discover', () => discovered),
    methodEntry(
      'subscriptions/listen',
      createListen(hub, capabilities(newest), mayRead, definition.watch),
      streamPolicy,
    ),
  ])

  return {
    encoder: createEncoder(serverInfo),
    resolve(method, params, era) {
      const resolve = (era === 'legacy' ? legacy : modern).get(method)
      if (!resolve) throw new RpcError('methodNotFound', `Method not found: ${method.slice(0, 128)}`)
      return resolve(params)
    },
    isRequest: (method) => legacy.has(method) || modern.has(method),
    refusal({ method, params, caller, tenant }) {
      const { name, uri } = params
      if (method === 'resources/read' || method === 'resources/subscribe') return resourceNotFound(String(uri))
      if (method === 'prompts/get') return unknownPrompt(String(name))
      if (method !== 'tools/call') return invalidParams('nothing to complete')
      const available_tools = toolList.visible(caller.scopes, tenant.tools).map((tool) => tool.name)
      return new RpcError('unknownTool', `Unknown tool: ${String(name).slice(0, 128)}`, { data: { available_tools } })
    },
  }
}

/** Makes a target of a protocol method, once for all parameters. */
function methodTarget(name: string, run: Run, policy: Policy = openPolicy): Target {
  const ready = { run }
  return { kind: 'method', name, policy, prepare: () => ready }
}

const methodEntry = (name: string, run: Run, policy?: Policy): [string, Resolve] => {
  const target = methodTarget(name, run, policy)
  return [name, (params) => ({ target, args: params })]
}

const listPage = (list: List, { revision, caller, params }: Call, only?: VisibleNames): Answer => {
  const features = featuresOf(revision)
  return list.page(features.name, caller.scopes, params['cursor'], only)
}

/** Runs a method that changes the state of its connection. */
const changing =
  (changeOf: (call: Call) => StateChange) =>
  async (call: Call): Promise<Result> => {
    await call.via.connection?.change(changeOf(call))
    return {}
  }

/** Returns the parameter `uri`. Throws if it is missing or too long. */
export const uriOf = ({ uri }: Params): string => {
  if (typeof uri !== 'string') throw invalidParams('missing uri')
  if (uri.length > maxUriLength) throw invalidParams(`uri is longer than ${maxUriLength} characters`)
  return uri
}

/** Serves a method of an extension only to clients that declared it, where clients declare extensions. */
const forDeclaring =
  (extension: string, run: Run): Run =>
  (call) => {
    const { extensions: declared } = call.capabilities
    if (featuresOf(call.revision).extensions && !(isObject(declared) && isObject(declared[extension])))
      throw missingCapability({ extensions: { [extension]: {} } })
    return run(call)
  }
