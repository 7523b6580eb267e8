/** The upstreams of a configuration: commands and URLs, behind one gateway with one endpoint for all. */

import type { ServerDefinition } from 'sluice'
import { didYouMean } from 'sluice/extend'
import type { Gateway, Profile, Upstream, UpstreamAuth, UpstreamRule, UpstreamState } from 'sluice/gateway-node'
import { gateway, upstream } from 'sluice/gateway-node'
import type { Environment } from 'sluice/node'
import { isUpstream } from '../config/is-upstream.ts'
import type { Config, ServerSettings, UpstreamRuleSettings } from '../config/schema.ts'
import { CommandError, exitCodes } from '../output.ts'
import { version } from '../package.ts'
import { omitUndefined } from './omit-undefined.ts'
import { checkReferences, createHider, refuseWrittenCredentials, resolveReferences } from './references.ts'
import type { NamedServer } from './run.ts'
import type { AddressSettings } from './upstream-auth.ts'
import { toUpstreamAuth } from './upstream-auth.ts'

/** The name of the endpoint for all upstreams, which is at `/mcp`. */
const allName = 'all'

/** The gateway of a configuration, and its endpoints as servers. */
export interface OpenedUpstreams {
  readonly gateway: Gateway
  /** An endpoint per upstream, and the endpoint for all if there are several. */
  readonly named: readonly NamedServer[]
}

export interface UpstreamsOptions {
  readonly env: Environment
  /** How long the first listing of an upstream may take. Programs that are downloaded first need more. */
  readonly startMs?: number
  /** The configuration file, for messages. */
  readonly file?: string | undefined
  /** Whether an upstream with stored definitions is left alone. It then needs no secrets. */
  readonly usesStored?: boolean
}

/** Opens the servers that are commands or URLs. `undefined` if there is none. */
export async function openUpstreams(
  servers: { readonly [name: string]: ServerSettings },
  config: Pick<Config, 'processes' | 'timeoutMs' | 'servers' | 'profiles' | 'rateLimit'> & AddressSettings,
  options: UpstreamsOptions,
): Promise<OpenedUpstreams | undefined> {
  const chosen = Object.entries(servers).filter(([, settings]) => isUpstream(settings) && settings.enabled !== false)
  const refuse = refuseIn(options.file)
  const profiles = profilesOf(config, new Set(chosen.map(([name]) => name)), refuse)
  if (chosen.length === 0) return undefined
  refuseUnlimitedRates(chosen, config, refuse)
  const needsToon = chosen.some(([, { rules = [] }]) => rules.some(({ format }) => format === 'toon'))
  const toon = needsToon ? (await import('sluice/toon')).toon : undefined
  const toRule = ({ format, ...rule }: UpstreamRuleSettings): UpstreamRule =>
    omitUndefined({ ...rule, format: format === 'toon' ? toon : undefined })
  const auths = new Map<string, UpstreamAuth | undefined>()
  for (const [name, { auth }] of chosen)
    if (auth) auths.set(name, await toUpstreamAuth(name, auth, config, options.env))
  const resolved = new Map<string, ServerSettings>()
  for (const [name, settings] of chosen) resolved.set(name, await withReferences(name, settings, options.env))
  const made = asUsageError(
    () =>
      gateway({
        ...{ name: allName, version },
        upstreams: chosen.map(([name, settings]) =>
          toUpstream(
            name,
            { ...settings, ...resolved.get(name), rules: withDeadline(settings.rules ?? [], config) },
            toRule,
            options,
            auths.get(name),
          ),
        ),
        profiles,
        processes: omitUndefined(config.processes),
        // Longer than its upstreams: a slow process is ended first, which takes seconds, and then its message is there.
        ...(options.startMs !== undefined && { startMs: options.startMs + 5_000 }),
      }),
    refuse,
  )
  const each = Object.entries(made.endpoints)
  const subsets = Object.entries(made.profiles).filter(([name]) => Object.keys(profiles[name]?.tools ?? {}).length > 0)
  const endpoints = [...each, ...subsets, ...(each.length > 1 ? [[allName, made] as const] : [])]
  return {
    gateway: made,
    named: endpoints.map(([name, definition]) => ({
      name,
      ...(name === allName && { path: '' }),
      opened: { definition: withExplainedStart(definition, refuse), state: 'ready', close: async () => {} },
    })),
  }
}

/** Resolves what is part of the address of an upstream: its URL and the words of its command line. */
async function withReferences(
  name: string,
  { url, args }: ServerSettings,
  env: UpstreamsOptions['env'],
): Promise<Pick<ServerSettings, 'url' | 'args'>> {
  const at = `servers.${name}`
  if (url !== undefined) return resolveReferences({ url }, at, env)
  if (args === undefined) return {}
  return { args: Object.values(await resolveReferences(Object.fromEntries(args.entries()), `${at}.args`, env)) }
}

function toUpstream(
  name: string,
  settings: ServerSettings,
  toRule: (rule: UpstreamRuleSettings) => UpstreamRule,
  { env, startMs, usesStored }: UpstreamsOptions,
  auth: UpstreamAuth | undefined,
): Upstream {
  const { scope, trust, trustHints, prefix, roots, idleMs, rules = [] } = settings
  const common = {
    ...{ name, rules: rules.map(toRule) },
    ...omitUndefined({ scope, trust, trustHints, prefix, roots, discoverMs: startMs }),
  }
  const { command, args, cwd, user, url, headers = {}, allowHosts } = settings
  if (url !== undefined) {
    refuseWrittenCredentials(headers, `servers.${name}.headers`)
    if (!usesStored) checkReferences(headers, `servers.${name}.headers`, env)
    const made = upstream({
      ...common,
      url,
      headers: () => resolveReferences(headers, `servers.${name}.headers`, env),
      ...omitUndefined({ allowHosts, auth }),
      ...(auth && { hasListCredential: Object.keys(headers).some((each) => /^authorization$/i.test(each)) }),
    })
    // Stored definitions of a process are not listed again at the start.
    return usesStored ? { ...made, isProcess: true } : made
  }
  if (settings.auth)
    throw new CommandError(`"servers.${name}.auth" is for a URL. A command gets secrets in "env"`, exitCodes.usage)
  const variables = settings.env ?? {}
  if (!usesStored) checkReferences(variables, `servers.${name}.env`, env)
  const { add, hide } = createHider()
  return upstream({
    ...common,
    command: command ?? '',
    env: () => resolveReferences(variables, `servers.${name}.env`, env, add),
    hide,
    ...omitUndefined({ args, cwd, user, idleMs, startMs }),
  })
}

/** Returns why an upstream cannot be used, from its own connections if they know more; `undefined` if it can. */
export function problemOf({ connections, lastError }: UpstreamState): string | undefined {
  const cause = connections.find((each) => each.lastError !== undefined)?.lastError
  return lastError === undefined ? undefined : (cause ?? lastError).replace(/\.$/, '')
}

/** Adds the operator's own deadline last, because the first rule that states a deadline decides it. */
function withDeadline(
  rules: readonly UpstreamRuleSettings[],
  { timeoutMs }: Pick<Config, 'timeoutMs'>,
): UpstreamRuleSettings[] {
  const isDecided = rules.some((rule) => rule.timeoutMs !== undefined && !rule.tools && !rule.tenants && !rule.callers)
  return timeoutMs === undefined || isDecided ? [...rules] : [...rules, { timeoutMs }]
}

/** Returns the profiles with the upstreams that are served. A caller stays bound to a profile that has none of them. */
function profilesOf(
  { servers = {}, profiles = {} }: Pick<Config, 'servers' | 'profiles'>,
  served: ReadonlySet<string>,
  refuse: Refuse,
): { readonly [name: string]: Profile } {
  const upstreams = Object.entries(servers).flatMap(([name, settings]) => (isUpstream(settings) ? [name] : []))
  const made = Object.entries(profiles).flatMap(([name, { tools, callers }]): readonly [string, Profile][] => {
    if (name === allName || Object.hasOwn(servers, name))
      throw refuse(`profiles.${name}: the name is taken by a server; rename the profile`)
    for (const upstream of Object.keys(tools)) {
      if (upstreams.includes(upstream)) continue
      const problem = `no server with a command or URL has this name${didYouMean(upstream, upstreams)}`
      throw refuse(`profiles.${name}.tools.${upstream}: ${problem}`)
    }
    const left = Object.fromEntries(Object.entries(tools).filter(([upstream]) => served.has(upstream)))
    return Object.keys(left).length === 0 && callers === undefined
      ? []
      : [[name, { tools: left, ...omitUndefined({ callers }) }]]
  })
  return Object.fromEntries(made)
}

/** A rate in a rule would be ignored without the limiter. */
function refuseUnlimitedRates(
  chosen: readonly (readonly [name: string, settings: ServerSettings])[],
  { rateLimit }: Pick<Config, 'rateLimit'>,
  refuse: Refuse,
): void {
  if (rateLimit !== null) return
  for (const [name, { rules = [] }] of chosen) {
    const index = rules.findIndex(({ rate }) => rate !== undefined)
    if (index >= 0)
      throw refuse(`servers.${name}.rules[${index}].rate: needs "rateLimit", which is null; remove one of them`)
  }
}

type Refuse = (problem: string) => CommandError

const refuseIn =
  (file: string | undefined): Refuse =>
  (problem) =>
    new CommandError(
      ['Invalid configuration:', ...problem.split('\n')].join('\n  ') + (file === undefined ? '' : ` (${file})`),
      exitCodes.usage,
    )

/** The library refuses settings that cannot work. Here they come from the configuration or the command line. */
function asUsageError<T>(work: () => T, refuse: Refuse): T {
  try {
    return work()
  } catch (thrown) {
    const refusal = explainRuleError(thrown, refuse)
    throw refusal instanceof TypeError ? new CommandError(refusal.message, exitCodes.usage) : refusal
  }
}

/** Names the field of the configuration in an error about rules and profiles. Other errors stay as they are. */
function explainRuleError(thrown: unknown, refuse: Refuse): unknown {
  if (!(thrown instanceof TypeError)) return thrown
  const text = thrown.message.replace(/^upstream "([^"]+)", rules\[/gm, 'servers.$1.rules[')
  return text.split('\n').every((line) => /^(servers|profiles)\./.test(line)) ? refuse(text) : thrown
}

/** Names of tools and arguments are checked when the definitions are known, which is when the server starts. */
function withExplainedStart(definition: ServerDefinition, refuse: Refuse): ServerDefinition {
  const { source } = definition
  if (!source) return definition
  return {
    ...definition,
    source: {
      ...source,
      start(services, update) {
        const started = source.start(services, update)
        return {
          ...started,
          async ready() {
            await started.ready?.().catch((thrown: unknown) => {
              throw explainRuleError(thrown, refuse)
            })
          },
        }
      },
    },
  }
}
