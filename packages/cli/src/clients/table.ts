/**
 * The MCP clients: where each keeps its servers, the names of the members there, and how people open that file. This
 * table is the only place with such facts. `sluice start`, `import`, `protect` and `unprotect` read it.
 */

import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from 'sluice/node'

/** The facts of a machine that decide where a client keeps its file. */
export interface Machine {
  readonly home: string
  readonly platform: NodeJS.Platform
  readonly env: Environment
}

export interface McpClient {
  /** The word on the command line. */
  readonly id: string
  readonly name: string
  readonly format: 'json' | 'toml'
  /** The path of the group of servers in the file. */
  readonly section: readonly string[]
  /** Groups of servers of single projects, in the same file. */
  readonly projects?: string
  /** The member with the URL of a server over Streamable HTTP. */
  readonly urlMember: 'url' | 'serverUrl' | 'httpUrl'
  /** Whether the client needs a member `type` in each entry. */
  readonly needsType: boolean
  /** Whether `${NAME}` is a variable of the environment. All clients here that have variables know `${env:NAME}` or this. */
  readonly bareVariables: boolean
  /** The file of the user. */
  userFile(machine: Machine): string
  /** The file of a project, from its root. */
  readonly projectFile?: string
  /** How the file is opened, in the words of the client. */
  readonly open: string
  /** What makes the client read the file again. */
  readonly reload: string
  /** The file that `sluice start` writes into `clients` in the data folder. */
  readonly sample: string
  /**
   * How the client of that file identifies itself: it starts `sluice connect`, which reads the key from the data folder;
   * it asks its user; or the key is in the file. The last is for files that people do not commit.
   */
  readonly credential: 'connect' | 'input' | 'key'
}

export const machineOf = (env: Environment): Machine => ({
  home: env['HOME'] || env['USERPROFILE'] || homedir(),
  platform: process.platform,
  env,
})

/** The folder for settings of programs, as each system has it. */
function settingsFolder({ home, platform, env }: Machine): string {
  if (platform === 'darwin') return join(home, 'Library/Application Support')
  if (platform === 'win32') return env['APPDATA'] || join(home, 'AppData/Roaming')
  return env['XDG_CONFIG_HOME'] || join(home, '.config')
}

type Common = Pick<McpClient, 'format' | 'section' | 'urlMember' | 'needsType' | 'bareVariables' | 'credential'>
const common: Common = {
  ...{ format: 'json', section: ['mcpServers'], urlMember: 'url', credential: 'key' },
  ...{ needsType: false, bareVariables: false },
}

export const clients: readonly McpClient[] = [
  {
    ...common,
    ...{ id: 'claude-desktop', name: 'Claude Desktop', sample: 'claude_desktop_config.json', credential: 'connect' },
    userFile: (machine) => join(settingsFolder(machine), 'Claude/claude_desktop_config.json'),
    open: 'Settings > Developer > Edit Config',
    reload: 'Quit Claude Desktop and start it again.',
  },
  {
    ...common,
    ...{ id: 'claude-code', name: 'Claude Code', sample: 'claude-code.sh', credential: 'connect' },
    ...{ needsType: true, bareVariables: true, projects: 'projects', projectFile: '.mcp.json' },
    userFile: ({ home, env }) => join(env['CLAUDE_CONFIG_DIR'] || home, '.claude.json'),
    open: 'claude mcp add --scope user',
    reload: 'Start a new session of Claude Code; /mcp shows its servers.',
  },
  {
    ...common,
    ...{ id: 'vscode', name: 'VS Code', sample: 'vscode-mcp.json', credential: 'input' },
    ...{ section: ['servers'], needsType: true, projectFile: '.vscode/mcp.json' },
    userFile: (machine) => join(settingsFolder(machine), 'Code/User/mcp.json'),
    open: '"MCP: Open User Configuration" in the Command Palette',
    reload: 'Run "MCP: List Servers" in the Command Palette and restart them.',
  },
  {
    ...common,
    ...{ id: 'cursor', name: 'Cursor', sample: 'cursor-mcp.json', projectFile: '.cursor/mcp.json' },
    userFile: ({ home }) => join(home, '.cursor/mcp.json'),
    open: 'Cursor Settings > Tools & MCP',
    reload: 'Cursor reads the file when it changes.',
  },
  {
    ...common,
    ...{ id: 'windsurf', name: 'Windsurf', sample: 'windsurf-mcp_config.json', urlMember: 'serverUrl' },
    userFile: ({ home }) => join(home, '.codeium/windsurf/mcp_config.json'),
    open: 'Windsurf Settings > Cascade > MCP Servers',
    reload: 'Press Refresh in the list of MCP servers of Cascade.',
  },
  {
    ...common,
    ...{ id: 'zed', name: 'Zed', sample: 'zed-settings.json', section: ['context_servers'], credential: 'connect' },
    projectFile: '.zed/settings.json',
    userFile: (machine) => {
      const { home, platform, env } = machine
      if (platform === 'win32') return join(settingsFolder(machine), 'Zed/settings.json')
      const folder = platform === 'linux' ? env['XDG_CONFIG_HOME'] : undefined
      return join(folder || join(home, '.config'), 'zed/settings.json')
    },
    open: '"zed: open settings file" in the command palette',
    reload: 'Zed reads the file when it changes.',
  },
  {
    ...common,
    ...{ id: 'gemini', name: 'Gemini CLI', sample: 'gemini-settings.json', urlMember: 'httpUrl', bareVariables: true },
    projectFile: '.gemini/settings.json',
    userFile: ({ home }) => join(home, '.gemini/settings.json'),
    open: '~/.gemini/settings.json',
    reload: 'Start Gemini CLI again; /mcp shows its servers.',
  },
  {
    ...common,
    ...{ id: 'codex', name: 'Codex', sample: 'codex-config.toml', format: 'toml', section: ['mcp_servers'] },
    ...{ credential: 'connect', projectFile: '.codex/config.toml' },
    userFile: ({ home, env }) => join(env['CODEX_HOME'] || join(home, '.codex'), 'config.toml'),
    open: '~/.codex/config.toml',
    reload: 'Start Codex again; codex mcp list shows its servers.',
  },
]

/** Files with no client of this table, such as `mcp.json` of a program. Most programs use these names. */
export const plainClient: McpClient = {
  ...common,
  ...{ id: 'mcp.json', name: 'other clients', sample: 'mcp.json', needsType: true, projectFile: 'mcp.json' },
  userFile: ({ home }) => join(home, 'mcp.json'),
  open: 'the settings for MCP servers of the client',
  reload: 'Start the client again.',
}
