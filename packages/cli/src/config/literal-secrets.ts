/**
 * Finds secrets that are written into a configuration instead of being referred to. People share and commit
 * configurations, and `args` are in the process list.
 */

import type { ServerSettings } from './schema.ts'

const credentialName = /^(authorization|proxy-authorization|cookie)$|token|secret|api[-_]?key|passw(or)?d|credential/i
/** The shapes of tokens that are in wide use. */
const tokenShape =
  /\b(gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|sk-[\w-]{16,}|xox[abpr]-[\w-]{10,}|AKIA[0-9A-Z]{16}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)/

/** Returns whether the name of a header, a variable or an option is one of a credential. */
export const isCredentialName = (name: string): boolean => credentialName.test(name)

/** Returns whether a text refers to a secret. */
export const isReferring = (text: string): boolean => /\$\{(env|file|keychain):[^}]+\}/.test(text)

/** Returns whether a named text holds a secret itself. A path to a file is not one. */
const isLiteralSecret = (name: string, text: string): boolean =>
  !isReferring(text) &&
  text !== '' &&
  (tokenShape.test(text) || (isCredentialName(name) && !/(file|path)$/i.test(name) && !/^[./~]/.test(text)))

/** Returns which arguments hold a secret: `--token=abc`, `--token abc`, or the shape of a token. */
const secretArguments = (args: readonly string[]): readonly number[] =>
  args.flatMap((text, index) => {
    const [, option = '', value] = /^--?([\w-]+)(?:=(.*))?$/s.exec(text) ?? []
    if (value !== undefined) return isLiteralSecret(option, value) ? [index] : []
    if (text.startsWith('-')) return []
    const [, previous = ''] = /^--?([\w-]+)$/.exec(args[index - 1] ?? '') ?? []
    return isLiteralSecret(previous, text) ? [index] : []
  })

/** Returns the settings of a server that hold a secret, as paths below the server. */
export function findLiteralSecrets({
  env = {},
  headers = {},
  args = [],
  url,
  auth,
}: ServerSettings): readonly string[] {
  const named = (group: string, texts: { readonly [name: string]: string }): readonly string[] =>
    Object.entries(texts).flatMap(([name, text]) => (isLiteralSecret(name, text) ? [`${group}.${name}`] : []))
  const clients = [
    ['auth.signIn.client.secret', auth?.signIn?.client?.secret],
    ['auth.exchange.client.secret', auth?.exchange?.client.secret],
  ] as const
  return [
    ...named('env', env),
    ...named('headers', headers),
    ...secretArguments(args).map((index) => `args[${index}]`),
    ...(url !== undefined && hasSecret(url) ? ['url'] : []),
    ...clients.flatMap(([path, text]) => (text !== undefined && isLiteralSecret('secret', text) ? [path] : [])),
  ]
}

function hasSecret(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { password, searchParams } = new URL(text)
  return password !== '' || [...searchParams].some(([name, value]) => isLiteralSecret(name, value))
}

/** Returns a value as it may be shown: a secret becomes `(hidden)`. `name` is the last part of its path. */
export function maskLiteral(name: string, value: unknown): unknown {
  if (typeof value === 'string')
    return isLiteralSecret(name, value) ? '(hidden)' : hasSecret(value) ? maskQuery(value) : value
  if (name !== 'args' || !Array.isArray(value)) return value
  const secrets = new Set(secretArguments(value.map(String)))
  return value.map((each: unknown, index) =>
    secrets.has(index) ? String(each).replace(/^(--?[\w-]+=)?.*$/s, '$1(hidden)') : each,
  )
}

const maskQuery = (text: string): string =>
  text.replace(/([?&][^=&#]*=)([^&#]*)/g, (whole, start: string, value: string) =>
    isLiteralSecret(start.slice(1, -1), value) ? `${start}(hidden)` : whole,
  )
