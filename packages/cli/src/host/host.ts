/** Creates what a configuration describes: one store, one approvals service, one console, and a runtime for each server. */

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Caller, Logger, OpenedServer, Runtime, Verifier } from 'sluice'
import { apiKeys, ask, audit, authenticate, concurrency, health, limit, log, metrics, once, tenant } from 'sluice'
import type { Approvals } from 'sluice/approvals'
import { approvals } from 'sluice/approvals'
import type { Console } from 'sluice/console'
import { createConsole } from 'sluice/console'
import { nodeClock } from 'sluice/node'
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
  /** Returns the runtime of one server on this host. */
  runtimeFor(opened: OpenedServer): Runtime
}

export interface HostOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly logger: Logger
  /** The name of the person who signs in by the console's link. It equals the caller whose tickets they decide. */
  readonly owner: string
  /** Serves on stdio, where the only caller is the account that started the process. */
  readonly stdio?: boolean
}

export async function createHost(config: Config, { env, logger, owner, stdio = false }: HostOptions): Promise<Host> {
  const opened = await openStore(config, env)
  const { store, bus } = opened
  const desk = approvals(approvalsOf(config, env, stdio, () => consoleApp?.url))
  const consoleApp =
    config.console && !stdio ? createConsole({ store, bus, desk, clock: nodeClock, logger, owner }) : undefined
  const known = await callersOf(config, env, opened, { stdio, owner })
  const runtime: Runtime = {
    store,
    ...(bus && { bus }),
    clock: nodeClock,
    secret: secretOf(config, env),
    log: log(logger),
    ask: ask(),
    once: once(omitUndefined(config.once)),
    health: health(),
    approvals: desk,
    errors: config.errors,
    ...(known && config.tenant && { tenant: tenant(tenantOf(config.tenant, env)) }),
    ...(config.limit && {
      limit: limit(
        omitUndefined({
          rate: config.limit.rate && toBucket(config.limit.rate),
          tools: config.limit.tools && toBuckets(config.limit.tools),
        }),
      ),
    }),
    ...(config.concurrency && { concurrency: concurrency(omitUndefined(config.concurrency)) }),
    ...(config.audit && { audit: audit(auditOf(config.audit)) }),
    ...(config.metrics && { metrics: metrics() }),
    ...(config.tracing && { tracing: (await import('sluice/tracing')).tracing() }),
    ...(consoleApp && { console: consoleApp.watch }),
  }
  return {
    opened,
    console: consoleApp,
    approvals: desk,
    runtimeFor: ({ publicMethods, layers }) => ({
      ...runtime,
      ...omitUndefined({ layers }),
      ...(known && {
        authenticate: authenticate({
          ...known,
          ...omitUndefined({ publicMethods: known.publicMethods ?? publicMethods }),
        }),
      }),
    }),
  }
}

type Callers = Parameters<typeof authenticate>[0]

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
    throw new CommandError('"authenticate" has no method. Turn "apiKeys" on, or add an issuer to "jwt"')
  return verifiers
}

function auditOf({ retention, ...rest }: NonNullable<Config['audit']>): Parameters<typeof audit>[0] {
  return omitUndefined({ ...rest, retention: retentionOf(retention) })
}

function tenantOf(
  { from, header, tools }: NonNullable<Config['tenant']>,
  env: HostOptions['env'],
): Parameters<typeof tenant>[0] {
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
): Parameters<typeof approvals>[0] {
  const { webhook, rules, approver, holdMs: waitMs, ...times } = settings
  const secret = env['SLUICE_WEBHOOK_SECRET']
  if (webhook !== undefined && !secret)
    throw new CommandError('"approvals.webhook" needs a secret: set SLUICE_WEBHOOK_SECRET, which signs its messages')
  return {
    ...omitUndefined({ ...times, waitMs }),
    rules: rules.map((rule) =>
      omitUndefined({ ...rule, annotations: rule.annotations && omitUndefined(rule.annotations) }),
    ),
    // There is no console on stdio, so the client asks its own user.
    approver: stdio && approver === 'owner' ? 'client' : approver,
    url,
    ...(webhook !== undefined && secret && { webhook: { url: webhook, secret } }),
  }
}
