/** The configuration of each client. It is written to files, so that nothing must be copied out of a terminal. */

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makePrivateFolder, replacePrivateFile } from 'sluice/node'
import { builtInNames } from './servers.ts'

export interface ClientConfig {
  readonly client: string
  readonly file: string
  readonly text: string
  /** The place in the client where it belongs. */
  readonly destination: string
  /** Works on this machine only, because it starts the command that is installed here. */
  readonly isLocal?: boolean
}

/** What the console shows in the place of a key, because keys are stored as hashes. */
export const keyPlaceholder = 'YOUR_API_KEY'

const main = fileURLToPath(new URL('../main.js', import.meta.url))
/** The command line that a client starts: from npm, or from this folder if the command was not installed from npm. */
const command: readonly [string, ...string[]] = /[\\/]node_modules[\\/]/.test(main)
  ? ['npx', '-y', '@sluice/cli']
  : [process.execPath, main]

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`

/** `urls` are by the server's name. The data folder and the configuration are named, as clients start servers anywhere. */
export function clientConfigs(
  urls: { readonly [name: string]: string },
  key: string,
  { folder, file }: { readonly folder: string; readonly file: string | undefined },
): readonly ClientConfig[] {
  const [program, ...before] = command
  const headers = { Authorization: `Bearer ${key}` }
  const entries = Object.entries(urls)
  const named = <T>(of: (name: string, url: string) => T): { [name: string]: T } =>
    Object.fromEntries(entries.map(([name, url]) => [`sluice-${name}`, of(name, url)]))
  return [
    {
      client: 'Claude Code',
      // A file instead of "claude mcp add", because every account on the machine can read a key on a command line.
      file: 'claude-code.json',
      destination: '~/.claude.json',
      text: json({ mcpServers: named((_, url) => ({ type: 'http', url, headers })) }),
    },
    {
      client: 'Claude Desktop',
      file: 'claude_desktop_config.json',
      destination: 'Settings, Developer',
      isLocal: true,
      text: json({
        mcpServers: named((name, url) => ({
          command: program,
          // The five need no configuration, so they run without the servers of this start.
          args: builtInNames.includes(name)
            ? [...before, 'serve', name, '--stdio', '--data', folder]
            : [...before, 'connect', url, '--data', folder, ...(file === undefined ? [] : ['--config', file])],
        })),
      }),
    },
    {
      client: 'VS Code',
      file: 'vscode-mcp.json',
      destination: '.vscode/mcp.json',
      text: json({ servers: named((_, url) => ({ type: 'http', url, headers })) }),
    },
    {
      client: 'Cursor',
      file: 'cursor-mcp.json',
      destination: '.cursor/mcp.json',
      text: json({ mcpServers: named((_, url) => ({ url, headers })) }),
    },
    {
      client: 'others',
      file: 'mcp.json',
      destination: 'mcp.json',
      text: json({ mcpServers: named((_, url) => ({ type: 'http', url, headers })) }),
    },
  ]
}

export function writeClientConfigs(folder: string, configs: readonly ClientConfig[]): string {
  const into = join(folder, 'clients')
  makePrivateFolder(into)
  for (const { file, text } of configs) replacePrivateFile(join(into, file), text)
  return into
}
