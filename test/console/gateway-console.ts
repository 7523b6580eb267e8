/** A console over a gateway that listens for clients and browsers, with an upstream that people sign in to. */

import { signIn } from 'sluice/gateway-auth'
import type { Upstream } from 'sluice/gateway-node'
import { gateway, upstream } from 'sluice/gateway-node'
import { serveHttp } from 'sluice/node'
import { onTestFinished } from 'vitest'
import { freePort } from '../kit/processes/programs.ts'
import type { ConsoleFixture } from '../kit/servers/console.fixture.ts'
import { openConsoleFixture } from '../kit/servers/console.fixture.ts'
import type { ResourceServer, SignInIssuer } from '../kit/servers/sign-in-issuer.ts'
import { startResourceServer, startSignInIssuer } from '../kit/servers/sign-in-issuer.ts'

export interface GatewayConsole extends ConsoleFixture {
  /** The address of the endpoint, for clients. */
  readonly endpoint: string
}

/** The authorization server, the server that accepts its tokens, and the port that browsers come back to. */
export interface NotesService {
  readonly port: number
  readonly issuer: SignInIssuer
  readonly server: ResourceServer
  /** The upstream of one test. */
  upstream(): Upstream
  close(): Promise<void>
}

export async function startNotes(): Promise<NotesService> {
  const port = await freePort()
  const redirectUrl = `http://127.0.0.1:${port}/sign-in/callback`
  const issuer = await startSignInIssuer([redirectUrl])
  const server = await startResourceServer(issuer.url)
  return {
    ...{ port, issuer, server },
    upstream: () => upstream({ name: 'notes', url: server.url, auth: signIn({ redirectUrl, client: issuer.client }) }),
    async close() {
      await server.close()
      issuer.close()
    },
  }
}

/** Serves one upstream until the test ends. The person of the link is `ann`. */
export async function openGatewayConsole(of: Upstream, port = 0): Promise<GatewayConsole> {
  const team = gateway({ name: 'team', version: '1.0.0', startMs: 60_000, upstreams: [of] })
  const definition = team.endpoints[of.name]
  if (!definition) throw new Error('no endpoint')
  const fixture = await openConsoleFixture({ definition, gateway: () => team, owner: 'ann' })
  const serving = await serveHttp(fixture.server, { port })
  onTestFinished(async () => {
    await serving.close()
    await fixture.close()
  })
  return Object.assign(fixture, { endpoint: serving.url })
}

/** Returns the code on the page after a sign-in. */
export const codeIn = (text: string | null): string =>
  /Your code: (\d{4} \d{4})/.exec(text ?? '')?.[1] ?? `no code: ${text}`
