/**
 * Opens a client. A target with `http://` or `https://` is reached over HTTP, one with `ws://` or `wss://` over a
 * WebSocket; any other is a command to start.
 */

import type { Client, ClientOptions, HttpSender, Transport } from 'sluice/client'
import { ClientError, connect, httpTransport, ServerError, sseTransport, webSocketTransport } from 'sluice/client'
import { createNodeSender, stdioTransport } from 'sluice/client-node'
import { type Environment, isLoopback } from 'sluice/node'
import { CommandError, exitCodes } from '../output.ts'
import { clientInfo } from './message.ts'
import { createSignIn } from './sign-in.ts'

export interface ConnectOptions {
  /** Headers as `Name: value`, as in curl. */
  readonly header?: readonly string[]
  readonly token?: string | undefined
  /** Receives what a started command writes to its stderr. */
  readonly onStderr?: (text: string) => void
  /** Variables for a command, as `NAME` or `NAME=value`. Besides these it sees only basics such as PATH. */
  readonly env?: readonly string[]
  /** Signs in where the server asks for it: in a browser, or at an address that is printed. */
  readonly signIn?: { readonly opensBrowser: boolean; readonly signal: AbortSignal; print(text: string): void }
}

export const isUrl = (target: string): boolean => /^https?:\/\//i.test(target)

export function headersOf({ header = [], token }: ConnectOptions, env: Environment): Record<string, string> {
  const extra = header.map((line): [string, string] => {
    const colon = line.indexOf(':')
    if (colon < 1) throw new CommandError(`--header must be "Name: value", not "${line}"`, exitCodes.usage)
    return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]
  })
  const credential = token ?? env['SLUICE_TOKEN']
  return { ...(credential && { authorization: `Bearer ${credential}` }), ...Object.fromEntries(extra) }
}

/** Connects to a server. `close` of the client also closes what was opened for it. */
export async function openClient(
  target: string,
  connectOptions: ConnectOptions,
  env: Environment,
  options: ClientOptions = {},
): Promise<Client> {
  if (/^wss?:\/\//i.test(target)) {
    const token = connectOptions.token ?? env['SLUICE_TOKEN']
    return connect(webSocketTransport(target, token === undefined ? {} : { token }), { clientInfo, ...options })
  }
  if (isUrl(target)) return overHttp(target, connectOptions, env, options)
  const [command = '', ...args] = splitWords(target)
  const transport = stdioTransport({
    command,
    args,
    env: chosenVariables(connectOptions.env ?? [], env),
    ...(connectOptions.onStderr && { onStderr: connectOptions.onStderr }),
  })
  try {
    return await connect(transport, { clientInfo, ...options })
  } catch (thrown) {
    throw toCommandError(thrown, target)
  }
}

async function overHttp(
  url: string,
  connectOptions: ConnectOptions,
  env: Environment,
  options: ClientOptions,
): Promise<Client> {
  const sender = createNodeSender()
  const headers = headersOf(connectOptions, env)
  // A credential that was given is not replaced by another.
  const wantsSignIn = connectOptions.signIn && !('authorization' in headers)
  const signIn = wantsSignIn
    ? await createSignIn({ url, sender: sender.send, env, ...connectOptions.signIn })
    : undefined
  const close = (): void => {
    signIn?.close()
    sender.close()
  }
  const http = { headers, sender: sender.send, ...(signIn && { authorization: signIn.authorization }) }
  try {
    const client = await connectHttp(url, http, { clientInfo, ...options })
    return {
      ...client,
      agreement: client.agreement,
      async close() {
        await client.close()
        close()
      },
    }
  } catch (thrown) {
    close()
    throw toCommandError(thrown, url)
  }
}

interface HttpConnectOptions {
  readonly headers: Record<string, string>
  readonly sender: HttpSender
}

/** Servers of 2024 have HTTP+SSE alone, usually at `/sse`: they refuse a POST there. */
async function connectHttp(url: string, http: HttpConnectOptions, options: ClientOptions): Promise<Client> {
  const over = (transport: (url: string, http: HttpConnectOptions) => Transport): Promise<Client> =>
    connect(transport(url, http), options)
  try {
    return await over(httpTransport)
  } catch (thrown) {
    const { status = 0 } = thrown instanceof ClientError || thrown instanceof ServerError ? thrown : {}
    const isRefused = [400, 404, 405].includes(status)
    if (!isRefused || options.era === 'modern') throw thrown
    return over(sseTransport).catch(() => {
      throw thrown
    })
  }
}

/** Returns the error of a request in words for the user of the command. */
export function toCommandError(thrown: unknown, target: string): unknown {
  if (!(thrown instanceof ClientError)) return thrown
  if (thrown.reason === 'unreachable' && isUrl(target))
    return new CommandError(
      `No response from ${target}. Check that the server is running and that the path is right (usually /mcp).`,
    )
  if (thrown.status !== 401) return new CommandError(thrown.message)
  // Without parameters, a challenge says nothing that this message does not say.
  const hint = thrown.challenge?.includes(' ') ? `\nIt said: ${thrown.challenge}` : ''
  const keys = isUrl(target) && isLoopback(new URL(target).hostname) ? ` ${keysOfStart}` : ''
  const reference = thrown.reference === undefined ? '' : `\nReference, for the operator: ${thrown.reference}`
  const problem = isCredentialRefused(thrown)
    ? 'The server refused this credential: it is unknown, expired or revoked. Give another'
    : 'The server requires a credential. Give one'
  return new CommandError(`${problem} with --token or SLUICE_TOKEN, or use --sign-in.${keys}${hint}${reference}`)
}

const keysOfStart = 'The keys that "sluice start" made are in keys.json in its data folder.'

/** RFC 6750: a challenge has this error only if the request had a token. */
export const isCredentialRefused = ({ challenge }: ClientError): boolean =>
  challenge?.includes('invalid_token') === true

/** Resolves the variables. A name without a value takes the value from this environment. */
const chosenVariables = (variables: readonly string[], env: Environment): Environment =>
  Object.fromEntries(
    variables.map((variable) => {
      const [name = '', ...value] = variable.split('=')
      if (name === '') throw new CommandError(`--env must be NAME or NAME=value, not "${variable}"`, exitCodes.usage)
      return [name, value.length > 0 ? value.join('=') : env[name]]
    }),
  )

/** Splits a command line like a shell. Quotes keep words together, also inside a word. */
export function splitWords(line: string): readonly string[] {
  const found = line.match(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'])+/g) ?? []
  return found.map((word) =>
    word.replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'/g, (_, double?: string, single?: string) =>
      double === undefined ? (single ?? '') : double.replace(/\\(.)/g, '$1'),
    ),
  )
}
