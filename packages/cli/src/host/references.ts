/**
 * Resolves references to secrets, such as `${env:GITHUB_TOKEN}` and `${file:/run/secrets/token}`. The configuration
 * names a secret and never holds it.
 */

import { readFileSync } from 'node:fs'
import type { Environment } from 'sluice/node'
import { CommandError, exitCodes } from '../output.ts'

const reference = /\$\{(env|file):([^}]+)\}/g

/** Returns the texts with their references resolved. `setting` names the group in messages. */
export const resolveReferences = (
  texts: { readonly [name: string]: string },
  setting: string,
  env: Environment,
): { readonly [name: string]: string } =>
  Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [
      name,
      text.replace(reference, (_, kind: string, source: string) =>
        kind === 'env' ? variable(source, `${setting}.${name}`, env) : file(source, `${setting}.${name}`),
      ),
    ]),
  )

function variable(name: string, setting: string, env: Environment): string {
  const value = env[name]
  if (value) return value
  throw new CommandError(`"${setting}" needs the variable ${name}. Set it in the environment.`, exitCodes.usage)
}

function file(path: string, setting: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? ` (${String(thrown.code)})` : ''
    throw new CommandError(`"${setting}" needs the file ${path}, which cannot be read${code}.`, exitCodes.usage)
  }
}

const credential = /^(authorization|proxy-authorization|cookie)$|token|secret|api-?key|password/i

/** Refuses a credential that is written into a header of the configuration, which people share and commit. */
export function refuseWrittenCredentials(headers: { readonly [name: string]: string }, setting: string): void {
  for (const [name, text] of Object.entries(headers))
    if (credential.test(name) && !/\$\{(env|file):[^}]+\}/.test(text))
      throw new CommandError(
        `"${setting}.${name}" contains a credential. Write \${env:NAME} instead of it, and set that variable.`,
        exitCodes.usage,
      )
}
