/**
 * `sluice rules test`: prints which rules apply to a call and what would happen. Nothing is called. An upstream is started
 * only if its definitions were never stored.
 */

import type { ApiKey, Store } from 'sluice'
import { apiKeys, memoryStore, rateLimit } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import { didYouMean } from 'sluice/extend'
import type { CallExplanation, ExplainedCaller, Gateway, HostPolicies, UpstreamTool } from 'sluice/gateway-node'
import { ownerTenant } from 'sluice/main'
import { createServer } from 'sluice/node'
import { log, park } from 'sluice/plugins'
import { isUpstream } from '../config/is-upstream.ts'
import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { approvalRules, tenantsOf } from '../host/host.ts'
import { owner } from '../host/identities.ts'
import { silentLogger } from '../host/logger.ts'
import { omitUndefined } from '../host/omit-undefined.ts'
import { openStore } from '../host/store.ts'
import { openUpstreams } from '../host/upstreams.ts'
import { CommandError, escapeControls, exitCodes, styled, type Terminal, table, toJson, wrapText } from '../output.ts'
import { readArguments } from './arguments.ts'
import type { CommandContext } from './context.ts'

export interface RulesTestOptions {
  readonly config?: string
  readonly data?: string
  readonly as?: string
  readonly tenant?: string
  readonly scope?: readonly string[]
  readonly profile?: string
  readonly json?: boolean
}

export async function rulesTest(
  context: CommandContext,
  tool: string,
  pairs: readonly string[],
  options: RulesTestOptions,
): Promise<number> {
  const { env, cwd, terminal } = context
  const { config, file } = await loadConfig({ file: options.config, cwd, env, flags: { data: options.data } })
  const [server, name] = tool.includes('/') ? splitTool(tool, config) : [undefined, tool]
  const opened = await openStore(config, env)
  // The timers of the gateway do not keep a process alive.
  const keepAlive = setInterval(() => {}, 1_000)
  try {
    const caller = await callerOf(config, opened.store, options)
    const upstreams = await openUpstreams(serversOf(config, server, options.profile), config, {
      env,
      file,
      usesStored: true,
    })
    const [first] = upstreams?.named ?? []
    if (!upstreams || !first)
      throw new CommandError('The configuration has no server with a command or URL, so it has no rules.')
    const { gateway } = upstreams
    const running = createServer(first.opened.definition, {
      store: opened.store,
      use: [log(silentLogger), park(), rateLimit()],
    })
    try {
      await running.ready()
      const found = findTool(gateway, name, caller)
      const args = readArguments(pairs, found.inputSchema ?? {})
      const question = {
        upstream: found.upstream,
        tool: found.tool,
        args,
        caller,
        ...omitUndefined({ profile: options.profile }),
      }
      const explanation = gateway.explain(question, policiesOf(config))
      if (options.json) terminal.out(toJson({ upstream: found.upstream, tool: found.tool, caller, ...explanation }))
      else terminal.out(textOf(terminal, found, caller, explanation, config))
      return exitCodes.ok
    } finally {
      await running.close()
    }
  } finally {
    clearInterval(keepAlive)
    await opened.close()
  }
}

/** Splits `files/read_file`. */
function splitTool(tool: string, { servers = {} }: Config): readonly [server: string, tool: string] {
  const at = tool.indexOf('/')
  const server = tool.slice(0, at)
  const names = Object.entries(servers).flatMap(([name, settings]) => (isUpstream(settings) ? [name] : []))
  if (names.includes(server)) return [server, tool.slice(at + 1)]
  throw new CommandError(`No server "${server}" has a command or URL${didYouMean(server, names)}`, exitCodes.usage)
}

/** Returns the servers that the answer depends on. The names of a profile depend on all of its upstreams. */
function serversOf(
  { servers = {}, profiles = {} }: Config,
  only: string | undefined,
  profile: string | undefined,
): NonNullable<Config['servers']> {
  if (profile !== undefined && !Object.hasOwn(profiles, profile))
    throw new CommandError(`Unknown profile "${profile}"${didYouMean(profile, Object.keys(profiles))}`, exitCodes.usage)
  if (only === undefined) return servers
  const names = new Set([only, ...Object.keys(profiles[profile ?? '']?.tools ?? {})])
  return Object.fromEntries(Object.entries(servers).filter(([name]) => names.has(name)))
}

/** Finds a tool by its own name, or by the name that this caller sees. */
function findTool(gateway: Gateway, name: string, caller: ExplainedCaller): UpstreamTool {
  const all = gateway.upstreamTools()
  const own = all.filter(({ tool }) => tool === name)
  const found =
    own.length > 0
      ? own
      : all.filter(({ upstream, tool }) => {
          const { listedAs } = gateway.explain({ upstream, tool, caller })
          return listedAs === name || `${upstream}_${listedAs}` === name
        })
  const [first, second] = found
  if (first && second)
    throw new CommandError(
      `Several servers have a tool "${name}": write ${found.map(({ upstream, tool }) => `${upstream}/${tool}`).join(' or ')}`,
      exitCodes.usage,
    )
  if (first) return first
  const states = gateway.states()
  for (const { name: upstream, leftOut } of states) {
    const refused = leftOut.find((each) => each.kind === 'tool' && each.name === name)
    if (refused) throw new CommandError(`The tool ${name} of ${upstream} is not served: ${refused.reason}`)
  }
  const missing = states.find(({ definitions }) => definitions === 'unknown')
  if (missing && all.length === 0)
    throw new CommandError(`The tools of ${missing.name} are not known: ${missing.lastError ?? 'it was never reached'}`)
  throw new CommandError(
    `No upstream has a tool "${escapeControls(name)}"${didYouMean(
      name,
      all.map(({ tool }) => tool),
    )}`,
    exitCodes.usage,
  )
}

/** Returns the caller of a key, or of a token if its tenant or scopes are given. */
async function callerOf(config: Config, store: Store, options: RulesTestOptions): Promise<ExplainedCaller> {
  const { as: named = owner, tenant, scope } = options
  const keys = await allKeys(store)
  const isValid = ({ revoked, expires = Number.POSITIVE_INFINITY }: ApiKey): boolean =>
    revoked === undefined && expires > Date.now()
  const matching = keys.filter(({ id, subject }) => id === named || subject === named)
  const [key, other] = matching.filter(isValid)
  if (!key) {
    if (matching.length > 0)
      throw new CommandError(`The key of ${named} is revoked or has expired: every call is refused`)
    if (options.as !== undefined && tenant === undefined && scope === undefined)
      throw new CommandError(
        `No API key has the id or subject "${named}"${didYouMean(
          named,
          keys.flatMap(({ id, subject }) => [id, subject]),
        )}. For a caller with a token, add --tenant or --scope.`,
        exitCodes.usage,
      )
    return {
      subject: named,
      scopes: scope ?? [],
      tenant: config.tenants === null ? ownerTenant : (tenant ?? ownerTenant),
    }
  }
  if (other && key.id !== named)
    throw new CommandError(
      `${named} has several keys: name one by its id: ${matching
        .filter(isValid)
        .map(({ id }) => id)
        .join(', ')}`,
      exitCodes.usage,
    )
  return { subject: key.subject, key: key.id, scopes: key.scopes, tenant: tenantOf(config, key, tenant) }
}

/** Chooses the tenant as the server would, or refuses as it would. */
function tenantOf({ tenants }: Config, { id, tenants: memberships }: ApiKey, chosen: string | undefined): string {
  if (tenants === null) return ownerTenant
  const [first, second] = memberships
  if (first === undefined) throw new CommandError(`The key ${id} belongs to no tenant: every call is refused`)
  if (chosen !== undefined && !memberships.includes(chosen))
    throw new CommandError(
      `The key ${id} is not of the tenant ${chosen}; it has ${memberships.join(', ')}`,
      exitCodes.usage,
    )
  if (chosen === undefined && second !== undefined)
    throw new CommandError(
      `The key ${id} has several tenants: add --tenant with one of ${memberships.join(', ')}`,
      exitCodes.usage,
    )
  return chosen ?? first
}

async function allKeys(store: Store): Promise<readonly ApiKey[]> {
  const admin = apiKeys(store)
  const keys: ApiKey[] = []
  for (;;) {
    const after = keys.at(-1)?.id
    const page = await admin.list(after === undefined ? { limit: 100 } : { limit: 100, after })
    keys.push(...page)
    if (page.length < 100) return keys
  }
}

/** What the servers around the gateway decide, from the same configuration. */
function policiesOf(config: Config): HostPolicies {
  const approvals = createApprovals({ store: memoryStore(), rules: approvalRules(config.approvals.rules) })
  approvals.close()
  const tools = config.tenants ? tenantsOf(config.tenants, {}).tools : undefined
  return {
    verdict: approvals.verdict,
    impliedScopes: config.authenticate?.impliedScopes,
    ...(tools && { tenantTools: tools }),
  }
}

const outcomes = { runs: 'allowed', needsApproval: 'waits for an approval', refused: 'refused' } as const

function textOf(
  terminal: Terminal,
  { upstream, tool }: UpstreamTool,
  caller: ExplainedCaller,
  explanation: CallExplanation,
  config: Config,
): string {
  const { outcome, refusal, rules, profiles, listedAs } = explanation
  const who = [
    `as ${caller.subject}`,
    ...(caller.key === undefined ? [] : [`(key ${caller.key})`]),
    `of tenant ${caller.tenant}`,
    `with ${caller.scopes?.length ? `scopes ${caller.scopes.join(', ')}` : 'no scopes'}`,
  ].join(' ')
  const rows = rules.map(({ index, text, decides, ignored }) => [
    `servers.${upstream}.rules[${index}]`,
    text,
    decides.join(', ') || '–',
    ignored.join(', ') || '–',
  ])
  const style = outcome === 'runs' ? 'green' : outcome === 'refused' ? 'red' : 'yellow'
  return escapeControls(
    [
      wrapText(terminal, `${upstream}/${tool} ${who}`),
      '',
      ...(rows.length > 0
        ? [table(terminal, ['RULE', 'FOR', 'DECIDES', 'DECIDED BY AN EARLIER RULE'], rows)]
        : ['No rule matches.']),
      '',
      `Result: ${outcomes[outcome]}${refusal ? `. ${refusal.message}` : ''}`,
      ...(profiles.length > 0 ? [`  profiles   ${profiles.join(', ')}`] : []),
      ...(listedAs === undefined ? [] : detailsOf(explanation, config)),
    ].join('\n'),
  ).replace(outcomes[outcome], (text) => styled(terminal, style, text))
}

function detailsOf(
  { listedAs, arguments: args, scopes, timeoutMs, rate, maxResultLength, format, approval }: CallExplanation,
  { rateLimit: limits }: Config,
): readonly string[] {
  const ofServer =
    limits && (limits.tools?.[listedAs ?? ''] ?? { burst: limits.burst ?? 120, perSecond: limits.perSecond ?? 20 })
  const bucket = rate ?? ofServer
  const origin = rate ? '' : ' (rateLimit)'
  return [
    `  name       ${listedAs}`,
    `  arguments  ${JSON.stringify(args)}`,
    `  scopes     ${scopes.join(', ') || 'none needed'}`,
    `  approval   ${approval}`,
    `  timeout    ${timeoutMs} ms`,
    `  rate       ${bucket ? `${bucket.perSecond} per second, at most ${bucket.burst} at once${origin}` : 'no limit'}`,
    `  size       at most ${maxResultLength ?? 4 * 1024 * 1024} characters`,
    `  format     ${format ?? 'as the upstream sends it'}`,
  ]
}
