/**
 * Connects a tenant's Strava account: authorization code with PKCE, a signed state that names the tenant and the
 * caller, and an exact redirect. The verifier is derived from the state.
 *
 * The person who opens the link decides whose account is connected, and a link can be sent to another person. Without a
 * further step, an attacker's link would put a victim's account into the attacker's log. So consent alone connects
 * nothing. After consent the page shows a one-time code. The account is connected when the caller who requested the
 * link submits that code. A browser session could not tell the two apart, because the victim's browser would do both
 * steps.
 *
 * https://developers.strava.com/docs/authentication/ and https://www.rfc-editor.org/rfc/rfc7636
 */

import { createHash, randomInt, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock, Logger } from 'sluice'
import { fail } from 'sluice'
import * as z from 'zod'
import type { Archive, TrainingLog } from '../archive.ts'
import type { Vault } from './seal.ts'

export interface StravaSettings {
  readonly clientId: string
  readonly clientSecret: string
  /** `https://www.strava.com` by default. */
  readonly baseUrl: string
  /** The redirect address if it is not this machine; the operator's proxy forwards it to the port below. */
  readonly redirectUrl: string | undefined
  /** A port on loopback; 0 picks a free one. */
  readonly port: number
}

export interface Strava {
  /** Returns the address that the user opens. */
  link(tenant: string, subject: string): Promise<string>
  /** Returns whether a user has consented through this caller's link, so that only the code is missing. */
  isPending(log: TrainingLog, subject: string): Promise<boolean>
  /** Connects the account if the code matches. Otherwise throws a message that says what to do. */
  confirm(log: TrainingLog, subject: string, code: string): Promise<void>
  /** Returns a valid token, renewed if necessary. Throws if the tenant is not connected. */
  token(log: TrainingLog): Promise<string>
  readonly settings: StravaSettings
  close(): Promise<void>
}

const tokens = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  expires_at: z.number().optional(),
  expires_in: z.number().optional(),
})
type Tokens = z.infer<typeof tokens>

const stateMs = 15 * 60_000
const base = 'http://callback'
const codeMs = 10 * 60_000
const maxAttempts = 5

/** A sign-in whose code was not submitted yet. */
const pending = z.object({ tokens, digest: z.string(), until: z.number(), tries: z.number() })
type Pending = z.infer<typeof pending>

const digestOf = (code: string): string => createHash('sha256').update(code).digest('base64url')
const isEqual = (a: string, b: string): boolean => {
  const [one, other] = [Buffer.from(a), Buffer.from(b)]
  return one.length === other.length && timingSafeEqual(one, other)
}

export function settingsFrom(env: Readonly<Record<string, string | undefined>>): StravaSettings | undefined {
  const {
    STRAVA_CLIENT_ID: clientId,
    STRAVA_CLIENT_SECRET: clientSecret,
    STRAVA_BASE_URL: baseUrl,
    STRAVA_REDIRECT_URL: redirectUrl,
  } = env
  if (!clientId || !clientSecret) return undefined
  return {
    clientId,
    clientSecret,
    baseUrl: (baseUrl ?? 'https://www.strava.com').replace(/\/$/, ''),
    redirectUrl,
    port: Number(env['FITNESS_CALLBACK_PORT'] ?? 0),
  }
}

export function createStrava(
  settings: StravaSettings,
  archive: Archive,
  vault: Vault,
  clock: Clock,
  logger: Logger,
): Strava {
  let listening: Promise<{ readonly redirect: string; close(): Promise<void> }> | undefined
  const about = (tenant: string): string => `strava ${tenant}`
  const stateOf = (tenant: string, subject: string, until: number): string => {
    const body = Buffer.from(JSON.stringify([tenant, subject, until])).toString('base64url')
    return `${body}.${vault.sign(body)}`
  }
  const callerIn = (state: string): { readonly tenant: string; readonly subject: string } | undefined => {
    const [body = '', code = ''] = state.split('.')
    if (!isEqual(code, vault.sign(body))) return undefined
    const [tenant, subject, until] = JSON.parse(Buffer.from(body, 'base64url').toString()) as [string, string, number]
    return until > clock.now() ? { tenant, subject } : undefined
  }
  const aboutPending = (tenant: string, subject: string): string => JSON.stringify(['strava pending', tenant, subject])
  const sealedOf = (log: TrainingLog, subject: string, value: Pending): string =>
    vault.seal(JSON.stringify(value), aboutPending(log.tenant, subject))
  async function held(log: TrainingLog, subject: string): Promise<{ sealed: string; value: Pending } | undefined> {
    const sealed = await log.pending(subject)
    const text = sealed && vault.open(sealed, aboutPending(log.tenant, subject))
    const value = text ? pending.parse(JSON.parse(text)) : undefined
    return sealed && value && value.until > clock.now() && value.tries < maxAttempts ? { sealed, value } : undefined
  }
  const verifierOf = (state: string): string => vault.sign(`verifier ${state}`)

  async function ask(body: Record<string, string>): Promise<Tokens> {
    const response = await fetch(`${settings.baseUrl}/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams({ client_id: settings.clientId, client_secret: settings.clientSecret, ...body }),
      signal: AbortSignal.timeout(10_000),
      redirect: 'error',
    }).catch(() => undefined)
    const parsed = response?.ok ? tokens.safeParse(await response.json().catch(() => undefined)) : undefined
    if (!parsed?.success) throw fail('Strava did not hand out a token. Connect again with connect_provider.')
    return parsed.data
  }
  async function keep(log: TrainingLog, granted: Tokens): Promise<void> {
    const until = granted.expires_at ?? Math.floor(clock.now() / 1000) + (granted.expires_in ?? 3600)
    await log.connect(
      'strava',
      vault.seal(JSON.stringify({ ...granted, expires_at: until }), about(log.tenant)),
      clock.now(),
    )
  }

  function listener(): NonNullable<typeof listening> {
    listening ??= listen()
    return listening
  }
  function listen(): NonNullable<typeof listening> {
    const server = createServer((request, response) => {
      const answer = (page: { readonly status: number; readonly text: string }): void => {
        response.writeHead(page.status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
        response.end(`${page.text}\n`)
      }
      // Any page can send a browser here, also to a target that is not a URL, such as `//`.
      const target = URL.canParse(request.url ?? '', base) ? (request.url ?? '') : '/'
      finish(new URL(target, base)).then(answer, () => response.destroy())
    })
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen(settings.port, '127.0.0.1', () => {
        server.unref()
        const { port } = server.address() as AddressInfo
        resolve({
          redirect: settings.redirectUrl ?? `http://127.0.0.1:${port}/callback`,
          close: () => new Promise((done) => server.close(() => done()).closeAllConnections()),
        })
      })
    })
  }
  async function finish(url: URL): Promise<{ readonly status: number; readonly text: string }> {
    const state = url.searchParams.get('state') ?? ''
    const code = url.searchParams.get('code')
    const caller = callerIn(state)
    if (!caller)
      return { status: 400, text: 'This link is invalid or has expired. Request a new one with connect_provider.' }
    if (!code) return { status: 400, text: 'Strava was not connected. You can close this page.' }
    try {
      const { redirect } = await listener()
      const granted = await ask({
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirect,
        code_verifier: verifierOf(state),
      })
      const shown = String(randomInt(100_000_000)).padStart(8, '0')
      const { tenant, subject } = caller
      const value = { tokens: granted, digest: digestOf(shown), until: clock.now() + codeMs, tries: 0 }
      const log = archive.forTenant(tenant)
      await log.setPending(subject, sealedOf(log, subject, value))
      return { status: 200, text: codePage(shown) }
    } catch (thrown) {
      logger.warn({ event: 'strava.failed', why: thrown instanceof Error ? thrown.name : 'unknown' })
      return { status: 502, text: 'Strava could not be connected. Try again with connect_provider.' }
    }
  }

  return {
    settings,
    async link(tenant, subject) {
      const { redirect } = await listener()
      const state = stateOf(tenant, subject, clock.now() + stateMs)
      const url = new URL(`${settings.baseUrl}/oauth/authorize`)
      url.search = new URLSearchParams({
        client_id: settings.clientId,
        response_type: 'code',
        redirect_uri: redirect,
        approval_prompt: 'auto',
        scope: 'read,activity:read',
        state,
        code_challenge: createHash('sha256').update(verifierOf(state)).digest('base64url'),
        code_challenge_method: 'S256',
      }).toString()
      return url.href
    },
    isPending: async (log, subject) => (await held(log, subject)) !== undefined,
    async confirm(log, subject, code) {
      const found = await held(log, subject)
      if (!found) throw fail('No sign-in waits for a code, or the code has expired. Start again with connect_provider.')
      const { sealed, value } = found
      const tries = value.tries + 1
      // Counted before it is compared. Otherwise codes that arrive together would cost one try.
      if (!(await log.changePending(subject, sealed, sealedOf(log, subject, { ...value, tries }))))
        throw fail('Another code was just submitted. Try again.')
      if (!isEqual(digestOf(code.replace(/\D/g, '')), value.digest)) {
        if (tries >= maxAttempts) await log.deletePending(subject)
        throw fail(
          tries >= maxAttempts
            ? 'That code is wrong, and it was the last try. Start again with connect_provider.'
            : 'That code is wrong. Ask the user for the eight digits on the page that opened after Strava.',
        )
      }
      await log.deletePending(subject)
      await keep(log, value.tokens)
    },
    async token(log) {
      const connection = await log.connection('strava')
      const text = connection && vault.open(connection.sealed, about(log.tenant))
      if (text === undefined) throw fail('Strava is not connected. Connect it with connect_provider.')
      const stored = tokens.parse(JSON.parse(text))
      if ((stored.expires_at ?? 0) > clock.now() / 1000 + 60) return stored.access_token
      const renewed = await ask({ grant_type: 'refresh_token', refresh_token: stored.refresh_token })
      await keep(log, renewed)
      return renewed.access_token
    },
    async close() {
      await (await listening)?.close()
    },
  }
}

/** Says for whom the code is: a user who got the link from another person must not pass it on. */
const codePage = (code: string): string =>
  `Your code: ${code.slice(0, 4)} ${code.slice(4)}

To finish, type this code into the chat in which you asked to connect Strava.
If another person sent you the link, close this page and do not share the code: otherwise they would see your activities.`
