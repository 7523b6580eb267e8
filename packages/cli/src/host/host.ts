/** The pipeline that a configuration describes: one store, one audit, approvals, a console, and the options of each server. */

import { readFileSync } from 'node:fs'
import type { Console, ConsoleOptions } from '@sluice/console'
import type { Caller, Logger, OpenedServer, PluginList, ServerOptions, Verifier } from 'sluice'
import { apiKeys, authenticate, concurrency, rateLimit, tenants } from 'sluice'
import type { Approvals, ApprovalsOptions } from 'sluice/approvals'
import { createApprovals } from 'sluice/approvals'
import type { AuditOptions } from 'sluice/audit'
import { createAudit } from 'sluice/audit'
import { nodeClock } from 'sluice/node'
import type { AuthenticateOptions } from 'sluice/plugins'
import { customLayer, idempotency, log, metrics, park, tasks } from 'sluice/plugins'
import type { Config } from '../config/schema.ts'
import { CommandError, exitCodes } from '../output.ts'
import { omitUndefined } from './omit-undefined.ts'
import { resolveReferences } from './references.ts'
import { retentionOf } from './retention.ts'
import type { OpenStore } from './store.ts'
import { openStore, secretOf } from './store.ts'

export interface Host {
  readonly opened: OpenStore
  readonly console: Console | undefined
  readonly approvals: Approvals
  /** Hands the console what exists only once the servers are open. */
  show(what: Partial<ShownLater>): void
  /** Returns the options of one server on this host. */
  optionsFor(opened: OpenedServer): ServerOptions
}

type ShownLater = { readonly [Name in 'gateway' | 'clients']: ReturnType<NonNullable<ConsoleOptions[Name]>> }

export interface HostOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly logger: Logger
  /** The name of the person who signs in by the console's link. It equals the caller whose tickets they decide. */
  readonly owner: string
  /** The maximum duration of a grant, if the configuration has none. Grants are off by default. */
  readonly grantMs?: number
  /** Serves on stdio, where the only caller is the account that started the process. */
  readonly stdio?: boolean
  /**
   * Lets a client on stdio approve for its own user, because stdio has no console. False for upstreams, whose operator
   * decides in a terminal: few clients know how to ask, and the point is a check outside the client.
   */
  readonly clientApproves?: boolean
  /** Returns the command line that approves a ticket, for callers on stdio. */
  readonly approveLine?: (id: string) => string
}

export async function createHost(config: Config, options: HostOptions): Promise<Host> {
  const { env, logger, owner, stdio = false, clientApproves = stdio, grantMs, approveLine } = options
  const opened = await openStore(config, env)
  const { store, bus } = opened
  const clock = nodeClock
  const secret = secretOf(config, env)
  const audit = config.audit ? createAudit({ ...auditOf(config.audit), store, clock, logger, secret }) : undefined
  const common = { store, bus, clock, logger, audit }
  let consoleApp: Console | undefined
  const approvals = createApprovals({
    ...(await approvalsOf(config, env, clientApproves, () => consoleApp?.url)),
    ...grantsOf(config.approvals.grants, grantMs),
    ...(approveLine && { command: approveLine }),
    ...common,
  })
  let shown: Partial<ShownLater> = {}
  const later = { gateway: () => shown.gateway, clients: () => shown.clients ?? [] }
  if (config.console && !stdio)
    consoleApp = (await import('@sluice/console')).createConsole({ ...common, ...later, approvals, owner })
  const known = await callersOf(config, env, opened, { stdio, owner })
  const plugins: PluginList = [
    log(logger),
    idempotency(omitUndefined(config.idempotency)),
    tasks(),
    park(),
    approvals,
    audit,
    known && config.tenants && tenants(tenantsOf(config.tenants, env)),
    config.rateLimit && rateLimit(omitUndefined(config.rateLimit)),
    config.concurrency && concurrency(omitUndefined(config.concurrency)),
    config.metrics && metrics(),
    config.tracing && (await import('sluice/tracing')).tracing(),
    consoleApp?.watch,
  ]
  return {
    opened,
    console: consoleApp,
    approvals,
    show(what) {
      shown = { ...shown, ...what }
    },
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

/** `undefined` without authentication. On stdio the only caller is the account that started us, unless a token names one. */
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

/** On stdio the caller may choose any tenant, because an account that can start this process can read the data folder. */
function ownerOf(tenant: string, owner: string): Callers {
  const stdioToken = crypto.randomUUID()
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
    throw new CommandError('"authenticate" has no method. Turn "apiKeys" on, or add an issuer to "jwt"')
  return verifiers
}

function auditOf({ retention, ...rest }: NonNullable<Config['audit']>): AuditOptions {
  return omitUndefined({ ...rest, retention: retentionOf(retention) })
}

export function tenantsOf(
  { claim, header, tools }: NonNullable<Config['tenants']>,
  env: HostOptions['env'],
): Parameters<typeof tenants>[0] {
  const sets = new Map(Object.entries(tools ?? {}).map(([id, names]) => [id, new Set(names)]))
  return {
    claim,
    ...omitUndefined({ header, stdioTenant: env['SLUICE_TENANT'] }),
    ...(tools && { tools: (id: string | undefined) => (id === undefined ? 'all' : (sets.get(id) ?? 'all')) }),
  }
}

/** `null` in the configuration turns grants off. */
function grantsOf(
  grants: Config['approvals']['grants'],
  defaultMs: number | undefined,
): Pick<ApprovalsOptions, 'grants'> {
  if (grants) return { grants }
  return grants === undefined && defaultMs !== undefined ? { grants: { maxMs: defaultMs } } : {}
}

export const approvalRules = (rules: Config['approvals']['rules']): NonNullable<ApprovalsOptions['rules']> =>
  rules.map((rule) => omitUndefined({ ...rule, annotations: rule.annotations && omitUndefined(rule.annotations) }))

async function approvalsOf(
  { approvals: settings }: Config,
  env: HostOptions['env'],
  clientApproves: boolean,
  url: () => string | undefined,
): Promise<ApprovalsOptions> {
  const { webhook, rules, approver, grants: _, ...times } = settings
  return {
    ...omitUndefined(times),
    rules: approvalRules(rules),
    approver: clientApproves && approver === 'owner' ? 'client' : approver,
    url,
    ...(webhook !== undefined && { webhook: await webhookOf(webhook, env) }),
  }
}

/** The address of a chat is a secret, so the configuration may name it instead. A chat checks no signature. */
async function webhookOf(
  settings: NonNullable<Config['approvals']['webhook']>,
  env: HostOptions['env'],
): Promise<NonNullable<ApprovalsOptions['webhook']>> {
  const { format, url: reference } =
    typeof settings === 'string' ? { format: 'json' as const, url: settings } : settings
  const secret = env['SLUICE_WEBHOOK_SECRET']
  if (format === 'json' && !secret)
    throw new CommandError('"approvals.webhook" needs a secret: set SLUICE_WEBHOOK_SECRET, which signs its messages')
  const { url = '' } = await resolveReferences({ url: reference }, 'approvals.webhook', env)
  if (!URL.canParse(url)) throw new CommandError('"approvals.webhook.url" is not a URL', exitCodes.usage)
  return { url, format, ...(secret && { secret }) }
}
