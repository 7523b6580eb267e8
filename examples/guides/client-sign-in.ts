import { type Client, connect, httpTransport } from 'sluice/client'
import { createLoopbackRedirect } from 'sluice/client-node'
import { createOAuth, sealedTokens, type TextStore } from 'sluice/client-oauth'

/** Connects to a server that asks for a sign-in. `texts` keeps the tokens, sealed, for the next time. */
export async function connectSignedIn(url: string, texts: TextStore, secret: string): Promise<Client> {
  const redirect = await createLoopbackRedirect({ show: (page) => console.log(`Sign in at ${page}`) })
  const { redirectUrl, authorize } = redirect
  const authorization = createOAuth({ url, redirectUrl, authorize, tokens: sealedTokens(texts, secret) })
  try {
    return await connect(httpTransport(url, { authorization }))
  } finally {
    redirect.close()
  }
}
