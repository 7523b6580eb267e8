/**
 * The configuration of each client for the servers of `sluice start`. It is written to files, so that nothing must be
 * copied out of a terminal. `clients/table.ts` has the facts of the clients.
 */

import { join } from 'node:path'
import { makePrivateFolder, replacePrivateFile } from 'sluice/node'
import type { McpClient } from '../clients/table.ts'
import { clients, plainClient } from '../clients/table.ts'
import { commandLine } from './own-command.ts'

export interface ClientConfig {
  readonly client: string
  readonly file: string
  readonly text: string
  /** What to do with the file, in the words of the client. */
  readonly destination: string
  /** Works on this machine only, because it starts the command that is installed here. */
  readonly isLocal?: boolean
}

/** What the console shows in the place of a key, because keys are stored as hashes. */
export const keyPlaceholder = 'YOUR_API_KEY'

export interface ClientConfigsOptions {
  /** The data folder and the configuration are named in commands, because clients start servers anywhere. */
  readonly folder: string
  readonly file: string | undefined
  /** The names of the built-in servers. They need no configuration, so Claude Desktop runs them without this start. */
  readonly builtIn: readonly string[]
}

interface Entry {
  readonly name: string
  readonly url: string
  /** The command line of `sluice connect` for the server. */
  readonly command: readonly [string, ...string[]]
}

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`

/** `urls` are by the server's name. */
export function clientConfigs(
  urls: { readonly [name: string]: string },
  key: string,
  { folder, file, builtIn }: ClientConfigsOptions,
): readonly ClientConfig[] {
  const configured = file === undefined ? [] : ['--config', file]
  return [...clients, plainClient].map((client) => {
    const entries = Object.entries(urls).map(([name, url]): Entry => {
      const isServed = client.id === 'claude-desktop' && builtIn.includes(name)
      const words = isServed
        ? ['serve', name, '--stdio', '--data', folder]
        : ['connect', url, '--data', folder, ...configured]
      return { name: `sluice-${name}`, url, command: [...commandLine, ...words] }
    })
    const { name, sample } = client
    return {
      client: name,
      file: sample,
      destination: destinationOf(client),
      ...(client.id === 'claude-desktop' && { isLocal: true }),
      text: textFor(client, entries, key, folder),
    }
  })
}

const destinationOf = ({ id, open }: McpClient): string =>
  id === 'claude-code' ? 'a terminal (a script for sh)' : open

function textFor(client: McpClient, entries: readonly Entry[], key: string, folder: string): string {
  if (client.id === 'claude-code') return scriptFor(entries)
  if (client.format === 'toml') return tomlFor(client, entries)
  const types = (type: string): object => (client.needsType ? { type } : {})
  const secret = client.credential === 'input' ? `\${input:${inputId}}` : key
  const servers = entries.map(({ name, url, command: [command, ...args] }) => [
    name,
    client.credential === 'connect'
      ? { ...types('stdio'), ...(client.id === 'zed' && { source: 'custom' }), command, args }
      : { ...types('http'), [client.urlMember]: url, headers: { Authorization: `Bearer ${secret}` } },
  ])
  const group = client.section.reduceRight<unknown>((inside, name) => ({ [name]: inside }), Object.fromEntries(servers))
  return json({ ...(client.credential === 'input' && { inputs: [inputFor(folder)] }), ...(group as object) })
}

const inputId = 'sluice-key'

/** VS Code asks once and keeps the answer, so that a committed file has no key. */
const inputFor = (folder: string): object => ({
  ...{ type: 'promptString', id: inputId, password: true },
  description: `Your Sluice key: "you" in ${join(folder, 'keys.json')}`,
})

/** Removes each server first, because Claude Code refuses to add one that exists. No command line holds a key. */
const scriptFor = (entries: readonly Entry[]): string =>
  [
    '#!/bin/sh',
    '# Adds the servers of Sluice to Claude Code, for all projects of this account. It can be run again.',
    ...entries.flatMap(({ name, command }) => [
      `claude mcp remove --scope user ${name} >/dev/null 2>&1`,
      `claude mcp add --scope user ${name} -- ${command.map(quoted).join(' ')} || exit 1`,
    ]),
    '',
  ].join('\n')

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)

/** A text in JSON is a text in TOML. */
const tomlFor = ({ section }: McpClient, entries: readonly Entry[]): string =>
  entries
    .map(({ name, command: [command, ...args] }) =>
      [
        `[${[...section, name].join('.')}]`,
        `command = ${JSON.stringify(command)}`,
        `args = [${args.map((arg) => JSON.stringify(arg)).join(', ')}]`,
        '',
      ].join('\n'),
    )
    .join('\n')

export function writeClientConfigs(folder: string, configs: readonly ClientConfig[]): string {
  const into = join(folder, 'clients')
  makePrivateFolder(into)
  for (const { file, text } of configs) replacePrivateFile(join(into, file), text)
  return into
}
