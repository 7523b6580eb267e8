/**
 * Resolves references to secrets: `${env:GITHUB_TOKEN}`, `${file:/run/secrets/token}` and `${keychain:github}`. The
 * configuration names a secret and never holds it. References are resolved when an upstream starts, so the secret is in
 * no setting that is printed, and a changed file counts from the next start on.
 */

import { readFileSync } from 'node:fs'
import type { Environment } from 'sluice/node'
import { CommandError, exitCodes } from '../output.ts'
import { readKeychain } from './keychain.ts'

const reference = /\$\{(env|file|keychain):([^}]+)\}/g

type Texts = { readonly [name: string]: string }

/** Refuses references that cannot be resolved. Keychains are not asked, because a person may have to unlock them. */
export function checkReferences(texts: Texts, setting: string, env: Environment): void {
  for (const [name, text] of Object.entries(texts))
    for (const [, kind, source = ''] of text.matchAll(reference))
      if (kind === 'env') variable(source, `${setting}.${name}`, env)
      else if (kind === 'file') file(source, `${setting}.${name}`)
}

/** Returns the texts with their references resolved. `setting` names the group in messages. */
export async function resolveReferences(texts: Texts, setting: string, env: Environment): Promise<Texts> {
  const resolved = Object.entries(texts).map(
    async ([name, text]) => [name, await resolveReference(text, `${setting}.${name}`, env)] as const,
  )
  return Object.fromEntries(await Promise.all(resolved))
}

/** Returns one text with its references resolved. */
export async function resolveReference(text: string, setting: string, env: Environment): Promise<string> {
  let resolved = ''
  let end = 0
  for (const { 0: whole, 1: kind, 2: source = '', index } of text.matchAll(reference)) {
    resolved += text.slice(end, index)
    end = index + whole.length
    if (kind === 'env') resolved += variable(source, setting, env)
    else if (kind === 'file') resolved += file(source, setting)
    else
      resolved += await readKeychain(source).catch((thrown: unknown) => {
        throw new CommandError(`"${setting}": ${thrown instanceof Error ? thrown.message : ''}`)
      })
  }
  return resolved + text.slice(end)
}

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
const isReferring = (text: string): boolean => /\$\{(env|file|keychain):[^}]+\}/.test(text)

/** Refuses a credential that is written into a header of the configuration, which people share and commit. */
export function refuseWrittenCredentials(headers: Texts, setting: string): void {
  for (const [name, text] of Object.entries(headers))
    if (credential.test(name) && !isReferring(text))
      throw new CommandError(
        `"${setting}.${name}" contains a credential. Write \${env:NAME} instead of it, and set that variable.`,
        exitCodes.usage,
      )
}
