/** The pipeline that a configuration describes: one store, one audit, approvals, a console, and the options of each server. */

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Caller, Logger, OpenedServer, PluginList, ServerOptions, Verifier } from 'sluice'
import { apiKeys, authenticate, concurrency, rateLimit, tenants } from 'sluice'
import type { Approvals, ApprovalsOptions } from 'sluice/approvals'
import { createApprovals } from 'sluice/approvals'
import type { AuditOptions } from 'sluice/audit'
import { createAudit } from 'sluice/audit'
import type { Console } from 'sluice/console'
import { createConsole } from 'sluice/console'
import { nodeClock } from 'sluice/node'
import type { AuthenticateOptions, RateLimitOptions } from 'sluice/plugins'
import { customLayer, idempotency, log, metrics, tasks } from 'sluice/plugins'
import type { Config } from '../config/schema.ts'
import { CommandError } from '../output.ts'
import { omitUndefined, toBucket, toBuckets } from './omit-undefined.ts'
import { retentionOf } from './retention.ts'
import type { OpenStore } from './store.ts'
import { openStore, secretOf } from './store.ts'

export interface Host {
  readonly opened: OpenStore
  readonly console: Console | undefined
  readonly approvals: Approvals
  /** For one of the servers on it. */
  optionsFor(opened: OpenedServer): ServerOptions
}

export interface HostOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly logger: Logger
  /** Who signs in to the console by its link: the same name as the caller whose tickets they decide. */
  readonly owner: string
  /** Whoever starts a process is who speaks on its stdin. */
  readonly stdio?: boolean
}

export async function createHost(config: Config, { env, logger, owner, stdio = false }: HostOptions): Promise<Host> {
  const opened = await openStore(config, env)
  const { store, bus } = opened
  const clock = nodeClock
  const secret = secretOf(config, env)
  const audit = config.audit ? createAudit({ ...auditOf(config.audit), store, clock, logger, secret }) : undefined
  const common = { store, bus, clock, logger, audit }
  let consoleApp: Console | undefined
  const approvals = createApprovals({ ...approvalsOf(config, env, stdio, () => consoleApp?.url), ...common })
  if (config.console && !stdio) consoleApp = createConsole({ ...common, approvals, owner })
  const known = await callersOf(config, env, opened, { stdio, owner })
  const plugins: PluginList = [
    log(logger),
    idempotency(omitUndefined(config.once)),
    tasks(),
    approvals,
    audit,
    known && config.tenant && tenants(tenantOf(config.tenant, env)),
    config.limit && rateLimit(rateLimitOf(config.limit)),
    config.concurrency && concurrency(omitUndefined(config.concurrency)),
    config.metrics && metrics(),
    config.tracing && (await import('sluice/tracing')).tracing(),
    consoleApp?.watch,
  ]
  return {
    opened,
    console: consoleApp,
    approvals,
    optionsFor: ({ publicMethods, layers = [] }) => ({
      ...{ store, bus, clock, secret, errors: config.errors },
      use: [
        ...plugins,
        ...layers.map(customLayer),
        known &&
          authenticate({
            ...known,
            ...omitUndefined({ publicMethods: known.publicMethods ?? publicMethods }),
          }),
      ],
    }),
  }
}

type Callers = AuthenticateOptions

/** `undefined` if nobody has to say who they are. On a pipe the only caller is who started us, unless a token says who that is. */
async function callersOf(
  config: Config,
  env: HostOptions['env'],
  opened: OpenStore,
  { stdio, owner }: Required<Pick<HostOptions, 'stdio' | 'owner'>>,
): Promise<Callers | undefined> {
  const { SLUICE_TOKEN: stdioToken, SLUICE_TENANT: chosen } = env
  if (stdio && stdioToken === undefined) return chosen ? ownerOf(chosen, owner) : undefined
  if (!config.authenticate) return undefined
  const { paramsToken, publicMethods, impliedScopes } = config.authenticate
  const verifiers = await verifiersOf(config, opened)
  return { verifiers, paramsToken, stdioToken, ...omitUndefined({ publicMethods, impliedScopes }) }
}

/** Whoever can start a process on a data folder can read all of it, so on a pipe they may choose any tenant in it. */
function ownerOf(tenant: string, owner: string): Callers {
  const stdioToken = randomUUID()
  const caller: Caller = {
    subject: owner,
    credential: 'stdio',
    scopes: new Set(),
    claims: { tenants: [tenant] },
    expires: Number.POSITIVE_INFINITY,
  }
  return { stdioToken, verifiers: [{ verify: async (token) => (token === stdioToken ? caller : undefined) }] }
}

async function verifiersOf(
  { authenticate: settings }: Config,
  { store, bus }: OpenStore,
): Promise<readonly Verifier[]> {
  if (!settings) return []
  const { jwt } = settings.jwt.length > 0 ? await import('sluice/jwt') : { jwt: undefined }
  const issuers = settings.jwt.map(({ jwks, pemFile, secretFile, ...terms }) => {
    const key = jwks
      ? { jwks }
      : pemFile
        ? { pem: readFileSync(pemFile, 'utf8') }
        : { secret: readFileSync(secretFile ?? '', 'utf8').trim() }
    return jwt?.(omitUndefined({ ...terms, ...key }) as Parameters<typeof jwt>[0])
  })
  const verifiers = [
    ...(settings.apiKeys ? [apiKeys(store, { bus })] : []),
    ...issuers.filter((each) => each !== undefined),
  ]
  if (verifiers.length === 0)
    throw new CommandError('authenticate: nobody could be let in. Turn apiKeys on, or add an issuer to jwt')
  return verifiers
}

function auditOf({ retention, ...rest }: NonNullable<Config['audit']>): AuditOptions {
  return omitUndefined({ ...rest, retention: retentionOf(retention) })
}

function tenantOf(
  { from, header, tools }: NonNullable<Config['tenant']>,
  env: HostOptions['env'],
): Parameters<typeof tenants>[0] {
  const sets = new Map(Object.entries(tools ?? {}).map(([id, names]) => [id, new Set(names)]))
  return {
    claim: from,
    ...omitUndefined({ header, stdioTenant: env['SLUICE_TENANT'] }),
    ...(tools && { tools: (id: string | undefined) => (id === undefined ? 'all' : (sets.get(id) ?? 'all')) }),
  }
}

function approvalsOf(
  { approvals: settings }: Config,
  env: HostOptions['env'],
  stdio: boolean,
  url: () => string | undefined,
): ApprovalsOptions {
  const { webhook, rules, approver, holdMs: waitMs, ...times } = settings
  const secret = env['SLUICE_WEBHOOK_SECRET']
  if (webhook !== undefined && !secret)
    throw new CommandError('approvals.webhook: set SLUICE_WEBHOOK_SECRET, which signs what is sent there')
  return {
    ...omitUndefined({ ...times, waitMs }),
    rules: rules.map((rule) =>
      omitUndefined({ ...rule, annotations: rule.annotations && omitUndefined(rule.annotations) }),
    ),
    // There is no console on a pipe: the client asks its own human.
    approver: stdio && approver === 'owner' ? 'client' : approver,
    url,
    ...(webhook !== undefined && secret && { webhook: { url: webhook, secret } }),
  }
}

const rateLimitOf = ({ rate, tools }: NonNullable<Config['limit']>): RateLimitOptions =>
  omitUndefined({ ...(rate && toBucket(rate)), tools: tools && toBuckets(tools) })
