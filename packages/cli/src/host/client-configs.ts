/** What to paste into which client. Also written to files, so that nothing has to be copied out of a terminal. */

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makePrivateFolder, replacePrivateFile } from 'sluice/node'

export interface ClientConfig {
  readonly client: string
  readonly file: string
  readonly text: string
  /** Where it belongs. */
  readonly destination: string
}

const main = fileURLToPath(new URL('../main.js', import.meta.url))
/** How a client starts the command: from npm, or from where it is when it was not installed from there. */
const command: readonly [string, ...string[]] = /[\\/]node_modules[\\/]/.test(main)
  ? ['npx', '-y', '@sluice/cli']
  : [process.execPath, main]

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`

/** `urls` by the server's name. `folder` is where everything is kept: clients that start servers do so from anywhere. */
export function clientConfigs(
  urls: { readonly [name: string]: string },
  key: string,
  folder: string,
): readonly ClientConfig[] {
  const [program, ...before] = command
  const headers = { Authorization: `Bearer ${key}` }
  const entries = Object.entries(urls)
  const named = <T>(of: (name: string, url: string) => T): { [name: string]: T } =>
    Object.fromEntries(entries.map(([name, url]) => [`sluice-${name}`, of(name, url)]))
  return [
    {
      client: 'Claude Code',
      // A file, and not "claude mcp add": every account on the machine can read the key on a command line.
      file: 'claude-code.json',
      destination: '~/.claude.json',
      text: json({ mcpServers: named((_, url) => ({ type: 'http', url, headers })) }),
    },
    {
      client: 'Claude Desktop',
      file: 'claude_desktop_config.json',
      destination: 'Settings, Developer',
      text: json({
        mcpServers: named((name) => ({
          command: program,
          args: [...before, 'serve', name, '--stdio', '--data', folder],
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
