/** Moves secrets that are written in a client's file to separate files, which the configuration names. */

import { join } from 'node:path'
import { readPrivateFile } from 'sluice/node'
import { isReferring } from '../config/literal-secrets.ts'
import type { ImportedServer } from './entries.ts'

/** A secret, and the file that it moves to. */
export interface MovedSecret {
  /** For people, such as `env.GITHUB_TOKEN`. */
  readonly from: string
  readonly file: string
  readonly value: string
}

const credentialName =
  /authorization|cookie|token|secret|api[-_]?key|passw|credential|private[-_]?key|(^|[-_])(auth|key|pat|pwd)$/i
/** The beginnings of keys that well-known services give out, and texts that contain a password. */
const credentialValue =
  /^(sk[-_]|pk[-_]live|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza|ya29\.|eyJ[\w-]+\.|-----BEGIN|npm_|hf_|lin_api_|ntn_)|:\/\/[^/\s:@]*:[^/\s@]+@/

/** Whether a text under this name is a secret that must not stay in a configuration. */
export const isSecret = (name: string, text: string): boolean =>
  text !== '' && !isReferring(text) && (credentialName.test(name) || credentialValue.test(text))

/** Whether the secret is not in its file yet. */
export const isUnmoved = ({ file, value }: MovedSecret): boolean => readPrivateFile(file) !== value

/** Returns the server with references in place of its secrets, and the secrets. `name` is that of the server. */
export function moveSecrets(
  server: ImportedServer,
  name: string,
  folder: string,
): { readonly server: ImportedServer; readonly secrets: readonly MovedSecret[] } {
  const secrets: MovedSecret[] = []
  const move = (from: string, label: string, value: string): string => {
    const file = join(folder, `${name}.${label.replace(/[^\w-]+/g, '-').replace(/^-+|-+$/g, '')}`)
    secrets.push({ from, file, value })
    return `\${file:${file}}`
  }
  const moveGroup = (member: 'env' | 'headers'): Pick<ImportedServer, 'env' | 'headers'> => {
    const group = server[member]
    if (!group) return {}
    const pairs = Object.entries(group).map(([each, text]) => {
      if (!isSecret(each, text)) return [each, text] as const
      const [scheme = ''] = /^(Bearer|Basic|Token) +/i.exec(text) ?? []
      return [each, scheme + move(`${member}.${each}`, each, text.slice(scheme.length))] as const
    })
    return { [member]: Object.fromEntries(pairs) }
  }
  const moved = {
    ...server,
    ...(server.args && { args: moveArguments(server.args, (at, value) => move(`args[${at}]`, `arg-${at}`, value)) }),
    ...(server.url !== undefined && { url: moveQuery(server.url, (label, value) => move('url', label, value)) }),
    ...moveGroup('env'),
    ...moveGroup('headers'),
  }
  return { server: moved, secrets }
}

/** Finds `--token x`, `--token=x`, `NAME=x`, `Name: x` and texts that look like keys. */
const moveArguments = (args: readonly string[], move: (at: number, value: string) => string): readonly string[] =>
  args.map((text, at) => {
    const [, prefix, name, value] = /^((-{0,2}[\w-]+)(?:=|: *(?:Bearer +)?))(.+)$/s.exec(text) ?? []
    if (prefix !== undefined && name !== undefined && value !== undefined && isSecret(name, value))
      return prefix + move(at, value)
    const flag = args[at - 1] ?? ''
    const isValue = /^--?[\w-]+$/.test(flag) && !text.startsWith('-')
    return isSecret(isValue ? flag : '', text) ? move(at, text) : text
  })

const moveQuery = (url: string, move: (label: string, value: string) => string): string =>
  url.replace(/([?&])([^=&#]+)=([^&#]+)/g, (whole, before: string, name: string, value: string) =>
    isSecret(name, value) ? `${before}${name}=${move(name, value)}` : whole,
  )
