/** `sluice wrap`: one command puts authentication, limits, approvals and audit in front of any MCP server. */

import type { Gateway } from 'sluice/gateway-node'
import { ownerTenant } from 'sluice/main'
import { isUrl } from '../client/open.ts'
import type { Config, ServerSettings } from '../config/schema.ts'
import { loggerOf } from '../host/logger.ts'
import { openUpstreams, problemOf } from '../host/upstreams.ts'
import { CommandError, escapeControls, exitCodes } from '../output.ts'
import type { CommandContext } from './context.ts'
import type { ServingFlags } from './load-for-serving.ts'
import { loadForServing } from './load-for-serving.ts'
import { choosesStdio, serveOne } from './serve-one.ts'
import { nameFor } from './wrap-name.ts'

export interface WrapOptions extends ServingFlags {
  readonly stdio?: boolean
  readonly http?: boolean
  readonly name?: string
  readonly approve?: readonly string[]
  readonly deny?: readonly string[]
  readonly trustHints?: boolean
  readonly env?: readonly string[]
  readonly header?: readonly string[]
  readonly user?: string
}

/** `npx` may download the program first. */
const startMs = 60_000

export async function wrap(context: CommandContext, target: readonly string[], options: WrapOptions): Promise<number> {
  const { env } = context
  const isStdio = choosesStdio(options)
  const { config: loaded, origins, file, folder } = await loadForServing(context, options)
  const name = options.name ?? nameFor(target)
  // On stdio the client shows stderr to its user as the server's messages, so the request log goes to a file.
  const log = { ...loaded.log, file: loaded.log.file ?? `${folder}/sluice.log` }
  const config: Config = { ...withRules(loaded, name, options), log }
  const logger = loggerOf(config)
  const settings = settingsOf(target, options, config)
  const upstreams = await openUpstreams({ [name]: settings }, config, { env, startMs })
  const [named] = upstreams?.named ?? []
  if (!upstreams || !named) throw new CommandError(`${name} cannot be opened`)
  const { gateway } = upstreams
  return serveOne(context, {
    ...{ ...named, config, folder, file, logger, isStdio, gateway },
    async describe() {
      await listNow(gateway, name, target)
      return summaryLines(gateway, { name, config, options, isStdio, hasData: origins.has('data') })
    },
  })
}

function settingsOf(target: readonly string[], options: WrapOptions, { authenticate }: Config): ServerSettings {
  const [first = '', ...args] = target
  const rules = [
    ...(options.deny ? [{ tools: [...options.deny], allow: false }] : []),
    ...(options.approve ? [{ tools: [...options.approve], approval: 'always' as const }] : []),
  ]
  const common = {
    rules,
    trustHints: options.trustHints === true,
    // Without authentication all callers count as one.
    ...(authenticate === null && { scope: 'shared' as const }),
  }
  if (target.length === 1 && isUrl(first)) {
    if (options.env || options.user)
      throw new CommandError('--env and --user are for a command, not for a URL', exitCodes.usage)
    return { ...common, url: first, headers: pairs(options.header ?? [], ':', '--header must be "Name: value"') }
  }
  if (options.header) throw new CommandError('--header is for a URL, not for a command', exitCodes.usage)
  return {
    ...common,
    ...{ command: first, args, env: pairs(options.env ?? [], '=', '--env must be NAME or NAME=value') },
    ...(options.user !== undefined && { user: options.user }),
  }
}

/** Splits `Name: value` and `NAME=value`. A variable without a value is taken from this environment. */
function pairs(lines: readonly string[], separator: string, message: string): { [name: string]: string } {
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(separator)
      const name = (at < 0 ? line : line.slice(0, at)).trim()
      if (name === '' || (at < 0 && separator === ':'))
        throw new CommandError(`${message}, not "${line}"`, exitCodes.usage)
      return [name, at < 0 ? `\${env:${name}}` : line.slice(at + 1).trim()]
    }),
  )
}

/** With `--trust-hints`, tools that only read need no approval. */
function withRules(config: Config, name: string, { trustHints, approve }: WrapOptions): Config {
  if (!trustHints || !approve) return config
  const reading = { server: name, annotations: { readOnlyHint: true }, approval: 'never' as const }
  return { ...config, approvals: { ...config.approvals, rules: [...config.approvals.rules, reading] } }
}

/** Lists the tools as they are now, not as an earlier run stored them. Rejects with the output of the server. */
async function listNow(gateway: Gateway, name: string, target: readonly string[]): Promise<void> {
  const [before] = gateway.states()
  if (before?.definitions === 'current') return
  try {
    // A server that failed is not started again: it would fail again, after as long a wait.
    if (before?.lastError !== undefined) throw new Error(before.lastError)
    await gateway.restart(name)
  } catch (thrown) {
    const [state] = gateway.states()
    const cause = (state && problemOf(state)) ?? (thrown instanceof Error ? thrown.message : String(thrown))
    const stderr = state?.connections.flatMap(({ stderr: lines = [] }) => lines) ?? []
    const wrote = stderr.length > 0 ? `\nIt wrote:\n${escapeControls(stderr.slice(-20).join('\n'))}` : ''
    throw new CommandError(`${target.join(' ')}: ${escapeControls(cause)}${wrote}`)
  }
}

/** A name without `*` that no tool has is refused at the start. A pattern may match later tools, so it is shown. */
const patternToRegExp = (pattern: string): RegExp =>
  new RegExp(`^${pattern.replaceAll(/[^\w*-]/g, '\\$&').replaceAll('*', '.*')}$`)

interface WrappedServer {
  readonly name: string
  readonly config: Config
  readonly options: WrapOptions
  readonly isStdio: boolean
  readonly hasData: boolean
}

/** Returns one line each for the tools of the running server, its approvals, its audit and its state. */
function summaryLines(gateway: Gateway, { name, config, options, isStdio, hasData }: WrappedServer): readonly string[] {
  const state = gateway.states()[0]
  const data = hasData ? ` --data ${config.data}` : ''
  const gated = options.approve?.join(', ')
  const tools = gateway.upstreamTools().map(({ tool }) => tool)
  const decide = `${isStdio ? '' : 'decide in the console, or: '}sluice approvals list${data}`
  return [
    `  tools      ${state?.tools ?? 0}${options.deny ? `, without ${options.deny.join(', ')}` : ''}`,
    gated === undefined
      ? `  approvals  none needed; --approve 'delete_*' asks you first`
      : `  approvals  ${gated}${options.trustHints ? ' (not for tools that only read)' : ''}: ${decide}`,
    ...[...(options.approve ?? []), ...(options.deny ?? [])]
      .filter((pattern) => !tools.some((tool) => patternToRegExp(pattern).test(tool)))
      .map((pattern) => `  warning    no tool matches ${pattern}: check its spelling`),
    `  audit      ${config.audit ? `sluice audit search --tenant ${ownerTenant}${data}` : 'off'}`,
    `  state      sluice upstreams list${data}; sluice upstreams logs ${name}${data}`,
    ...(state?.leftOut ?? []).map(
      ({ kind, name: definition, reason }) =>
        `  left out   the ${kind} ${escapeControls(definition)}: ${escapeControls(reason)}`,
    ),
  ]
}
