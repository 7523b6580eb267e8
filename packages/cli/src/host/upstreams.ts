/** Servers of others as the configuration describes them: commands and URLs, behind one gateway with one endpoint for all. */

import type { Gateway, Upstream, UpstreamRule, UpstreamState } from 'sluice/gateway-node'
import { gateway, upstream } from 'sluice/gateway-node'
import type { Environment } from 'sluice/node'
import type { Config, ServerSettings, UpstreamRuleSettings } from '../config/schema.ts'
import { CommandError, exitCodes } from '../output.ts'
import { version } from '../package.ts'
import { omitUndefined } from './omit-undefined.ts'
import { refuseWrittenCredentials, resolveReferences } from './references.ts'
import type { NamedServer } from './run.ts'

/** The name of the endpoint for all upstreams, which is at `/mcp`. */
export const allName = 'all'

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
}

export const isUpstream = ({ command, url }: ServerSettings): boolean => command !== undefined || url !== undefined

/** Opens the servers that are commands or URLs. `undefined` if there is none. */
export async function openUpstreams(
  servers: { readonly [name: string]: ServerSettings },
  config: Pick<Config, 'processes' | 'timeoutMs'>,
  options: UpstreamsOptions,
): Promise<OpenedUpstreams | undefined> {
  const chosen = Object.entries(servers).filter(([, settings]) => isUpstream(settings) && settings.enabled !== false)
  if (chosen.length === 0) return undefined
  const needsToon = chosen.some(([, { rules = [] }]) => rules.some(({ format }) => format === 'toon'))
  const toon = needsToon ? (await import('sluice/toon')).toon : undefined
  const toRule = ({ format, ...rule }: UpstreamRuleSettings): UpstreamRule =>
    omitUndefined({ ...rule, format: format === 'toon' ? toon : undefined })
  // The operator's own deadline comes last, because the first rule that states a deadline decides it.
  const deadline = config.timeoutMs === undefined ? [] : [{ timeoutMs: config.timeoutMs }]
  const made = asUsageError(() =>
    gateway({
      ...{ name: allName, version },
      upstreams: chosen.map(([name, settings]) =>
        toUpstream(name, { ...settings, rules: [...(settings.rules ?? []), ...deadline] }, toRule, options),
      ),
      processes: omitUndefined(config.processes),
      ...omitUndefined({ startMs: options.startMs }),
    }),
  )
  const each = Object.entries(made.endpoints)
  const endpoints = each.length > 1 ? [...each, [allName, made] as const] : each
  return {
    gateway: made,
    named: endpoints.map(([name, definition]) => ({
      name,
      ...(name === allName && { path: '' }),
      opened: { definition, state: 'ready', close: async () => {} },
    })),
  }
}

function toUpstream(
  name: string,
  settings: ServerSettings,
  toRule: (rule: UpstreamRuleSettings) => UpstreamRule,
  { env, startMs }: UpstreamsOptions,
): Upstream {
  const { scope, trust, trustHints, prefix, roots, idleMs, rules = [] } = settings
  const common = {
    ...{ name, rules: rules.map(toRule) },
    ...omitUndefined({ scope, trust, trustHints, prefix, roots, discoverMs: startMs }),
  }
  const { command, args, cwd, user, url, headers = {}, allowHosts } = settings
  if (url !== undefined) {
    refuseWrittenCredentials(headers, `servers.${name}.headers`)
    const sent = resolveReferences(headers, `servers.${name}.headers`, env)
    return upstream({ ...common, url, headers: sent, ...omitUndefined({ allowHosts }) })
  }
  const variables = resolveReferences(settings.env ?? {}, `servers.${name}.env`, env)
  return upstream({
    ...common,
    command: command ?? '',
    env: variables,
    ...omitUndefined({ args, cwd, user, idleMs, startMs }),
  })
}

/** Returns why an upstream cannot be used, from its own connections if they know more; `undefined` if it can. */
export function problemOf({ connections, lastError }: UpstreamState): string | undefined {
  const cause = connections.find((each) => each.lastError !== undefined)?.lastError
  return lastError === undefined ? undefined : (cause ?? lastError).replace(/\.$/, '')
}

/** The library refuses settings that cannot work. Here they come from the configuration or the command line. */
function asUsageError<T>(work: () => T): T {
  try {
    return work()
  } catch (thrown) {
    throw thrown instanceof TypeError ? new CommandError(thrown.message, exitCodes.usage) : thrown
  }
}
