/**
 * Sign-in of each caller at an upstream: authorization code with PKCE, tokens sealed per tenant and caller, refreshed
 * and revoked here. No token of the caller's client takes part.
 *
 * A link can be sent to another person, whose account would then serve the sender's calls. So consent alone connects
 * nothing. After it the page shows a one-time code, and the account is connected when the caller who asked for the link
 * submits that code. A browser session could not tell the two apart, because one browser does both steps.
 */

import { ClientError } from '../../client/errors.ts'
import type { Authorization, Challenge } from '../../client/http/authorization.ts'
import { createHostGuard } from '../../client/http/hosts.ts'
import { fetchSender } from '../../client/http/sender.ts'
import type { SavedSignIn, TokenStore } from '../../client/oauth/tokens.ts'
import { bugOf, messageOf, RpcError } from '../../core/error.ts'
import type { Params } from '../../core/json.ts'
import type { Page } from '../../core/plugin.ts'
import { sha256 } from '../../core/sha256.ts'
import { signInMissing, unavailable } from '../upstream-error.ts'
import { createAccounts } from './accounts.ts'
import type { ClientSource } from './client-source.ts'
import { codePage, messagePage } from './page.ts'
import { createSignInQuestions } from './questions.ts'
import type { Begun, Held } from './records.ts'
import { createRecords } from './records.ts'
import { signInTool } from './tool.ts'
import type { AuthContext, CallerAuth, Person, PersonSignIns, SignInOrigin, UpstreamAuth } from './types.ts'

/** Options of a sign-in. */
export interface SignInOptions {
  /**
   * The address that browsers come back to: the path of an endpoint of this gateway, then `/sign-in/callback`. A function
   * if the port is known later.
   */
  readonly redirectUrl: string | (() => string)
  /** A client that was registered with the authorization server. By default the gateway registers one. */
  readonly client?: ClientSource | undefined
  /** The https address of the gateway's client metadata document, for authorization servers that read such documents. */
  readonly clientMetadataUrl?: string | undefined
  /** The scopes to ask for. By default those that the upstream names. */
  readonly scope?: string | undefined
}

/** Lets each caller sign in at the upstream: `upstream({ name, url, auth: signIn({ redirectUrl }) })`. */
export const signIn = (options: SignInOptions): UpstreamAuth => ({ open: (context) => createSignIn(options, context) })

const maxTries = 5
/** The upstream names the issuer, so it may be long. */
const maxIssuerChars = 300

function createSignIn(options: SignInOptions, context: AuthContext): CallerAuth {
  const { clock, logger, audit, upstream, url, allowHosts, sender } = context
  const records = createRecords(context)
  const { accountOf, forget, nameOf, oauthFor, tokensOf } = createAccounts(options, context, records)
  const redirectUrl = (): string =>
    typeof options.redirectUrl === 'string' ? options.redirectUrl : options.redirectUrl()
  if (!context.hasSecret)
    logger.warn({
      event: 'signInsNotKept',
      upstream,
      message: 'Set "secret": sign-ins are lost when this process ends',
    })

  const record = (kind: string, { tenant, subject }: Person, more: Params): void =>
    audit.record(tenant, kind, { upstream, caller: subject, ...more })

  const isReady = async (person: Person): Promise<boolean> => {
    const { text, wanted } = await accountOf(person)
    return text !== undefined && wanted === undefined
  }

  /** A refused token is ended here, so that the next call asks. A wish for more scopes is kept for the next sign-in. */
  async function refused(person: Person, { status, header }: Challenge): Promise<ClientError> {
    const { text } = await accountOf(person)
    if (status === 403) await records.want(person, header ?? 'Bearer')
    else if (text !== undefined) {
      await records.endTokens(person, text)
      await records.releaseLister(person)
    }
    forget(person)
    return signInMissing(upstream)
  }

  const authorizationFor = (person: Person): Authorization => ({
    async token() {
      const { oauth } = await accountOf(person)
      const header = await oauth.token()
      // Without this check the request would leave without a credential, or with the operator's.
      if (header === undefined) throw signInMissing(upstream)
      return header
    },
    async challenged(challenge) {
      const { oauth } = await accountOf(person)
      if (await oauth.challenged(challenge)) return true
      throw await refused(person, challenge)
    },
  })

  /** Asks the upstream for its challenge, which may name the metadata and the scopes. */
  async function probe(): Promise<string | undefined> {
    const mayBePrivate = createHostGuard(url, allowHosts ? { allowHosts } : {}).check(url)
    const headers = { accept: 'text/event-stream, application/json' }
    const { response, abort } = (sender ?? fetchSender())({ method: 'GET', url, headers, mayBePrivate })
    const cancelTimer = clock.after(10_000, abort)
    try {
      const answer = await response
      answer.discard()
      return answer.status === 401 ? answer.header('www-authenticate') : undefined
    } catch {
      return undefined
    } finally {
      cancelTimer()
    }
  }

  async function start(person: Person, origin?: SignInOrigin): Promise<string> {
    const earlier = await records.begun(person)
    if (earlier && earlier.redirectUrl === redirectUrl()) return earlier.signIn.url
    const { wanted, text } = await accountOf(person)
    const isStepUp = wanted !== undefined && text !== undefined
    const header = isStepUp ? wanted : await probe()
    const redirect = redirectUrl()
    const oauth = await oauthFor(tokensOf(person), person, redirect)
    const begun = await oauth.begin({ status: isStepUp ? 403 : 401, header }).catch((thrown: unknown) => {
      if (!(thrown instanceof ClientError)) throw thrown
      throw unavailable(`The sign-in to ${upstream} cannot start: ${thrown.message}`.slice(0, 500), {}, thrown)
    })
    await records.begin(person, { signIn: begun, redirectUrl: redirect })
    record('upstream sign-in started', person, { issuer: begun.issuer.slice(0, maxIssuerChars), ...origin })
    return begun.url
  }

  async function callback(query: string): Promise<Page | undefined> {
    const state = new URLSearchParams(query).get('state') ?? ''
    const begun = await records.takeState(state)
    if (!begun) return undefined
    const { person } = begun
    try {
      const saved = await finish(begun, query)
      const code = randomCode()
      await records.hold(person, { saved, digest: sha256(code), tries: 0 })
      return codePage(upstream, code)
    } catch (thrown) {
      logger.warn({ event: 'signInFailed', upstream, message: messageOf(thrown) })
      return messagePage(400, `The sign-in to ${upstream} failed`, ['Start it again. You can close this page.'])
    }
  }

  /** Gets the tokens without saving them: they wait for the code. */
  async function finish(begun: Begun & { readonly person: Person }, query: string): Promise<SavedSignIn> {
    let saved: SavedSignIn | undefined
    const capture: TokenStore = {
      load: () => Promise.resolve(undefined),
      save: async (_, value) => {
        saved = value
      },
    }
    const oauth = await oauthFor(capture, begun.person, begun.redirectUrl)
    await oauth.finish(begun.signIn, `${begun.redirectUrl}?${query}`)
    if (!saved) throw new ClientError('unauthorized', 'The authorization server gave no token')
    return saved
  }

  async function confirm(person: Person, code: string, origin?: SignInOrigin): Promise<void> {
    const held = await records.held(person)
    // The one that was the last try may still be compared.
    if (!held || held.tries >= maxTries)
      throw new RpcError(
        'invalidParams',
        `No sign-in to ${upstream} waits for a code, or the code expired: start again`,
      )
    // Counted before it is compared. Otherwise codes that arrive together would cost one try.
    const counted: Held = { ...held, tries: held.tries + 1 }
    if (!(await records.changeHeld(person, held, counted)))
      throw new RpcError('conflict', 'Another code was just typed: try again')
    if (sha256(code.replace(/\D/g, '')) !== held.digest) throw await wrongCode(person, counted, origin)
    // Of two requests with the code, one continues.
    if (!(await records.changeHeld(person, counted, undefined)))
      throw new RpcError('conflict', 'This code was just used')
    await tokensOf(person).save(nameOf(person), held.saved)
    await records.want(person, undefined)
    await records.claimLister(person)
    forget(person)
    record('upstream signed in', person, { ...origin })
    await context.changed(person, true)
  }

  async function wrongCode(person: Person, held: Held, origin: SignInOrigin | undefined): Promise<RpcError> {
    const { tries } = held
    record('upstream code refused', person, { tries, ...origin })
    const isLast = tries >= maxTries
    if (isLast) await records.changeHeld(person, held, undefined)
    return new RpcError(
      'invalidParams',
      isLast
        ? 'That code is wrong, and it was the last try: start the sign-in again'
        : 'That code is wrong: type the eight digits on the page that opened after the sign-in',
    )
  }

  async function revoke(person: Person, origin?: SignInOrigin): Promise<void> {
    const { oauth, text } = await accountOf(person)
    await records.forgetBegun(person)
    await records.releaseLister(person)
    forget(person)
    if (text !== undefined) {
      record('upstream signed out', person, { ...origin })
      // The tokens are forgotten first. If the authorization server cannot be reached they end by themselves.
      await oauth.revoke().catch((thrown: unknown) => {
        logger.warn({ event: 'tokenNotRevoked', upstream, ...bugOf(thrown) })
      })
    }
    await context.changed(person, false)
  }

  const signIns: PersonSignIns = {
    async state(person) {
      const { text, wanted } = await accountOf(person)
      if (text === undefined) return { state: (await records.held(person)) ? 'waiting' : 'signed out' }
      const saved = await tokensOf(person).load(nameOf(person))
      if (!saved) return { state: 'signed out' }
      const { issuer, scope, expiresAt } = saved
      return {
        ...{ state: 'signed in', issuer },
        ...(scope !== undefined && { scope }),
        ...(expiresAt !== undefined && { expiresAt }),
        ...(wanted !== undefined && { wantsMore: true }),
      }
    },
    start,
    confirm,
    revoke,
  }
  return {
    authorizationFor,
    admit: createSignInQuestions({
      ...context,
      isReady,
      isHeld: async (person) => !!(await records.held(person)),
      signIns,
    }),
    lister: () => records.lister(),
    callback,
    tool: (name) => signInTool(name, upstream, signIns),
    signIns,
  }
}

/** Returns eight digits, each equally likely. */
function randomCode(): string {
  const digits: number[] = []
  while (digits.length < 8)
    for (const byte of crypto.getRandomValues(new Uint8Array(16)))
      if (byte < 250 && digits.length < 8) digits.push(byte % 10)
  return digits.join('')
}
