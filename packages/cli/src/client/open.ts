/** Opens a client. A target with `http://` or `https://` is reached over HTTP; any other is a command to start. */

import { childEnvironment, type Environment } from 'sluice/node'
import { CommandError, exitCodes } from '../output.ts'
import type { Client, ClientOptions } from './client.ts'
import { connect } from './client.ts'
import { httpTransport } from './http.ts'
import { stdioTransport } from './stdio.ts'

export interface ConnectOptions {
  /** Headers as `Name: value`, as in curl. */
  readonly header?: readonly string[]
  readonly token?: string | undefined
  readonly quiet?: boolean
  /** Variables for a command, as `NAME` or `NAME=value`. Besides these it sees only basics such as PATH. */
  readonly env?: readonly string[]
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

export async function openClient(
  target: string,
  connectOptions: ConnectOptions,
  env: Environment,
  options: ClientOptions = {},
): Promise<Client> {
  if (!isUrl(target)) {
    const [command = '', ...args] = splitWords(target)
    const childEnv = childEnvironment(env, chosenVariables(connectOptions.env ?? [], env))
    return connect(stdioTransport(command, args, childEnv, connectOptions.quiet ?? false), options)
  }
  try {
    return await connect(httpTransport({ url: target, headers: headersOf(connectOptions, env) }), options)
  } catch (thrown) {
    if (thrown instanceof TypeError)
      throw new CommandError(
        `No response from ${target}. Check that the server is running and that the path is right (usually /mcp).`,
      )
    throw thrown
  }
}

/** Resolves the variables. A name without a value takes the value from this environment. */
const chosenVariables = (variables: readonly string[], env: Environment): Environment =>
  Object.fromEntries(
    variables.map((variable) => {
      const [name = '', ...value] = variable.split('=')
      if (name === '') throw new CommandError(`--env must be NAME or NAME=value, not "${variable}"`, exitCodes.usage)
      return [name, value.length > 0 ? value.join('=') : env[name]]
    }),
  )

/** Splits a command line like a shell. Quotes keep words together. */
export function splitWords(line: string): readonly string[] {
  const found = line.match(/"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"']+/g) ?? []
  return found.map((word) => (/^["']/.test(word) ? word.slice(1, -1).replace(/\\(.)/g, '$1') : word))
}
