/** What to paste into which client. Also written to files, so that nothing has to be copied out of a terminal. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Pasted {
  readonly client: string
  readonly file: string
  readonly text: string
}

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`

/** `urls` by the server's name. */
export function toPaste(urls: { readonly [name: string]: string }, key: string): readonly Pasted[] {
  const headers = { Authorization: `Bearer ${key}` }
  const entries = Object.entries(urls)
  const named = <T>(of: (name: string, url: string) => T): { [name: string]: T } =>
    Object.fromEntries(entries.map(([name, url]) => [`sluice-${name}`, of(name, url)]))
  return [
    {
      client: 'Claude Code',
      file: 'claude-code.sh',
      text: `${entries.map(([name, url]) => `claude mcp add --transport http sluice-${name} ${url} --header "Authorization: Bearer ${key}"`).join('\n')}\n`,
    },
    {
      client: 'Claude Desktop',
      file: 'claude_desktop_config.json',
      text: json({
        mcpServers: named((name) => ({ command: 'npx', args: ['-y', '@sluice/cli', 'serve', name, '--stdio'] })),
      }),
    },
    {
      client: 'VS Code',
      file: 'vscode-mcp.json',
      text: json({ servers: named((_, url) => ({ type: 'http', url, headers })) }),
    },
    { client: 'Cursor', file: 'cursor-mcp.json', text: json({ mcpServers: named((_, url) => ({ url, headers })) }) },
    {
      client: 'mcp.json',
      file: 'mcp.json',
      text: json({ mcpServers: named((_, url) => ({ type: 'http', url, headers })) }),
    },
  ]
}

export function writePasted(folder: string, pasted: readonly Pasted[]): string {
  const into = join(folder, 'clients')
  mkdirSync(into, { recursive: true, mode: 0o700 })
  for (const { file, text } of pasted) writeFileSync(join(into, file), text, { mode: 0o600 })
  return into
}
