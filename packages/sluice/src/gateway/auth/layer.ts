/** Puts the credentials of callers before the work of an upstream, and the pages and services of sign-ins beside it. */

import type { Call, Layer } from '../../core/call.ts'
import { RpcError } from '../../core/error.ts'
import type { Page } from '../../core/plugin.ts'
import type { RunningUpstream } from '../runtime.ts'
import type { CallerAuth, PersonSignIns, SignIns } from './types.ts'
import { callbackPath } from './types.ts'

type Running = ReadonlyMap<string, Pick<RunningUpstream, 'auth' | 'definitions'>>

const listMethods = new Set(['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'])

/** Admits calls of upstreams whose callers need a credential. Other calls pass without an extra promise. */
export const callerAuthLayer =
  (upstreams: Running): Layer =>
  (next) =>
  (call) => {
    const { upstream, kind } = call.target
    if (upstream !== undefined) {
      const auth = upstreams.get(upstream)?.auth
      return auth ? auth.admit(call, next) : next(call)
    }
    // Without stored definitions the credential of the first caller lists them.
    const unlisted = kind === 'method' && listMethods.has(call.method) ? unlistedOf(upstreams) : []
    return unlisted.length === 0 ? next(call) : listFirst(unlisted, call).then(() => next(call))
  }

const unlistedOf = (upstreams: Running): readonly CallerAuth[] =>
  [...upstreams.values()].flatMap(({ auth, definitions }) => (auth && !auth.signIns && !definitions ? [auth] : []))

async function listFirst(unlisted: readonly CallerAuth[], call: Call): Promise<void> {
  for (const auth of unlisted)
    await auth
      .admit(call, () => Promise.resolve({}))
      .catch(() => {
        // The list itself is refused, with the reason.
      })
}

/** Serves the page that browsers come back to, for every upstream with a sign-in. The state says which one it is. */
export async function callbackOf(upstreams: Running, path: string, query: string): Promise<Page | undefined> {
  if (path !== callbackPath) return undefined
  let isServed = false
  for (const { auth } of upstreams.values()) {
    if (!auth?.callback) continue
    isServed = true
    const page = await auth.callback(query)
    if (page) return page
  }
  return isServed ? expiredPage : undefined
}

const expiredPage: Page = {
  status: 400,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
  body: 'This sign-in link is invalid or has expired. Start the sign-in again. You can close this page.\n',
}

/** The sign-ins of all upstreams. `running` is called each time, because a gateway runs only while it has servers. */
export function signInsOf(running: () => Running | undefined): SignIns {
  function of(upstream: string): PersonSignIns {
    const found = running()?.get(upstream)?.auth?.signIns
    if (!found) throw new RpcError('invalidParams', `No running upstream "${upstream.slice(0, 64)}" has a sign-in`)
    return found
  }
  const upstreams = (): readonly string[] =>
    [...(running() ?? [])].flatMap(([upstream, { auth }]) => (auth?.signIns ? upstream : []))
  return {
    upstreams,
    list: (person) =>
      Promise.all(upstreams().map(async (upstream) => ({ upstream, ...(await of(upstream).state(person)) }))),
    start: async (person, upstream, origin) => ({ url: await of(upstream).start(person, origin) }),
    confirm: async (person, upstream, code, origin) => of(upstream).confirm(person, code, origin),
    revoke: async (person, upstream, origin) => of(upstream).revoke(person, origin),
  }
}
