/** `https://…` is reached over HTTP; everything else is a command to start. */

import { childEnvironment, type Environment } from 'sluice/node'
import { CommandError, exitCodes } from '../output.ts'
import type { Client, ClientOptions } from './client.ts'
import { connect } from './client.ts'
import { httpTransport } from './http.ts'
import { stdioTransport } from './stdio.ts'

export interface ConnectOptions {
  /** `Name: value`, as curl takes them. */
  readonly header?: readonly string[]
  readonly token?: string | undefined
  readonly quiet?: boolean
  /** Variables for a command, as `NAME` or `NAME=value`. It sees no others but where programs are and the like. */
  readonly env?: readonly string[]
}

export const isUrl = (target: string): boolean => /^https?:\/\//i.test(target)

export function headersOf({ header = [], token }: ConnectOptions, env: Environment): Record<string, string> {
  const own = header.map((line): [string, string] => {
    const colon = line.indexOf(':')
    if (colon < 1) throw new CommandError(`--header takes "Name: value", not "${line}"`, exitCodes.usage)
    return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]
  })
  const credential = token ?? env['SLUICE_TOKEN']
  return { ...(credential && { authorization: `Bearer ${credential}` }), ...Object.fromEntries(own) }
}

export async function openClient(
  target: string,
  reach: ConnectOptions,
  env: Environment,
  options: ClientOptions = {},
): Promise<Client> {
  if (!isUrl(target)) {
    const [command = '', ...args] = splitWords(target)
    const visible = childEnvironment(env, chosenVariables(reach.env ?? [], env))
    return connect(stdioTransport(command, args, visible, reach.quiet ?? false), options)
  }
  try {
    return await connect(httpTransport({ url: target, headers: headersOf(reach, env) }), options)
  } catch (thrown) {
    if (thrown instanceof TypeError)
      throw new CommandError(
        `Nothing answers at ${target}. Is the server running, and is the path right (usually /mcp)?`,
      )
    throw thrown
  }
}

/** A name alone takes the value from here. */
const chosenVariables = (variables: readonly string[], env: Environment): Environment =>
  Object.fromEntries(
    variables.map((variable) => {
      const [name = '', ...value] = variable.split('=')
      if (name === '') throw new CommandError(`--env takes NAME or NAME=value, not "${variable}"`, exitCodes.usage)
      return [name, value.length > 0 ? value.join('=') : env[name]]
    }),
  )

/** A command line as a shell would split it: quotes keep words together. */
export function splitWords(line: string): readonly string[] {
  const found = line.match(/"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"']+/g) ?? []
  return found.map((word) => (/^["']/.test(word) ? word.slice(1, -1).replace(/\\(.)/g, '$1') : word))
}
