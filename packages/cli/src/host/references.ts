/**
 * Resolves references to secrets: `${env:GITHUB_TOKEN}`, `${file:/run/secrets/token}` and `${keychain:github}`. The
 * configuration names a secret and never holds it. References are resolved when an upstream starts, so the secret is in
 * no setting that is printed, and a changed file counts from the next start on.
 */

import { readFileSync } from 'node:fs'
import type { Environment } from 'sluice/node'
import { isCredentialName, isReferring } from '../config/literal-secrets.ts'
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

/** Returns the texts with their references resolved. `setting` names the group in messages; `found` gets each secret. */
export async function resolveReferences(
  texts: Texts,
  setting: string,
  env: Environment,
  found: (secret: string) => void = () => {},
): Promise<Texts> {
  const resolved = Object.entries(texts).map(
    async ([name, text]) => [name, await resolveText(text, `${setting}.${name}`, env, found)] as const,
  )
  return Object.fromEntries(await Promise.all(resolved))
}

async function resolveText(
  text: string,
  setting: string,
  env: Environment,
  found: (secret: string) => void,
): Promise<string> {
  let resolved = ''
  let end = 0
  for (const { 0: whole, 1: kind, 2: source = '', index } of text.matchAll(reference)) {
    resolved += text.slice(end, index)
    end = index + whole.length
    const secret = kind === 'env' ? variable(source, setting, env) : await storedSecret(kind, source, setting, env)
    found(secret)
    resolved += secret
  }
  return resolved + text.slice(end)
}

const storedSecret = async (
  kind: string | undefined,
  source: string,
  setting: string,
  env: Environment,
): Promise<string> =>
  kind === 'file'
    ? file(source, setting)
    : readKeychain(source, env).catch((thrown: unknown) => {
        throw new CommandError(`"${setting}": ${thrown instanceof Error ? thrown.message : ''}`)
      })

/** Remembers secrets, and removes them from texts that operators read. Short ones would blank ordinary words. */
export function createHider(): { readonly add: (secret: string) => void; readonly hide: (text: string) => string } {
  const secrets = new Set<string>()
  return {
    add: (secret) => secret.length >= 6 && secrets.add(secret),
    hide: (text) => [...secrets].reduce((rest, secret) => rest.replaceAll(secret, '(hidden)'), text),
  }
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

/** Refuses a credential that is written into a header of the configuration, which people share and commit. */
export function refuseWrittenCredentials(headers: Texts, setting: string): void {
  for (const [name, text] of Object.entries(headers))
    if (isCredentialName(name) && !isReferring(text))
      throw new CommandError(
        `"${setting}.${name}" contains a credential. Write \${env:NAME} instead of it, and set that variable.`,
        exitCodes.usage,
      )
}
