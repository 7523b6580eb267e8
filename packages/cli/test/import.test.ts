/** `sluice import`, `protect` and `unprotect` on the files of each client, as people have them. */

import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'jsonc-parser'
import { expect, test } from 'vitest'
import YAML from 'yaml'
import { clients } from '../src/clients/table.ts'
import { loadConfig } from '../src/config/load.ts'
import { aFolder, sluiceAt } from './command.ts'

const key = 'ghp_abcdefghijklmnopqrstuvwx12345678'
const stdio = '"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/srv/notes"]'

/** Where each client keeps its file on Linux, and a file with a server of each kind that it knows. */
const files: { readonly [id: string]: { readonly path: string; readonly text: string } } = {
  'claude-desktop': {
    path: '.config/Claude/claude_desktop_config.json',
    text: `{
  "mcpServers": {
    "files": { ${stdio} },
    "github": {
      "command": "docker",
      "args": ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
      "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "${key}" }
    }
  },
  "globalShortcut": "Alt+Space"
}
`,
  },
  'claude-code': {
    path: '.claude.json',
    text: `{
  "numStartups": 7,
  "projects": {
    "/work/shop": { "allowedTools": [], "mcpServers": { "shop": { "type": "stdio", "command": "./server.sh" } } }
  },
  "mcpServers": {
    "files": { "type": "stdio", ${stdio}, "env": {} },
    "github": {
      "type": "http",
      "url": "https://api.githubcopilot.com/mcp/",
      "headers": { "Authorization": "Bearer ${key}" }
    }
  }
}`,
  },
  vscode: {
    path: '.config/Code/User/mcp.json',
    text: `{
	// Servers of this account
	"servers": {
		"files": { "type": "stdio", ${stdio} }, // the notes
		"github": {
			"type": "http",
			"url": "https://api.githubcopilot.com/mcp/",
			"headers": { "Authorization": "Bearer ${key}" },
		},
		"asks": { "type": "stdio", "command": "asks", "env": { "TOKEN": "\${input:token}" } },
	},
	"inputs": [{ "type": "promptString", "id": "token", "description": "A token", "password": true }],
}
`,
  },
  cursor: {
    path: '.cursor/mcp.json',
    text: `{
    "mcpServers": {
        "files": { ${stdio} },
        "github": { "url": "https://api.githubcopilot.com/mcp/", "headers": { "Authorization": "Bearer ${key}" } }
    }
}
`,
  },
  windsurf: {
    path: '.codeium/windsurf/mcp_config.json',
    text: `{
  "mcpServers": {
    "files": { ${stdio}, "disabledTools": ["move_file"] },
    "github": { "serverUrl": "https://api.githubcopilot.com/mcp/", "headers": { "Authorization": "Bearer ${key}" } },
    "off": { "command": "off", "disabled": true }
  }
}
`,
  },
  zed: {
    path: '.config/zed/settings.json',
    text: `// Zed settings
{
  "theme": "One Dark",
  "context_servers": {
    /* mine */
    "files": { "source": "custom", ${stdio}, "env": {} },
    "github": {
      "url": "https://api.githubcopilot.com/mcp/",
      "headers": { "Authorization": "Bearer ${key}" },
    },
    "postgres-context-server": { "settings": { "database_url": "postgresql://localhost/shop" } },
  },
}
`,
  },
  gemini: {
    path: '.gemini/settings.json',
    text: `{
  "mcpServers": {
    "files": { ${stdio}, "timeout": 30000 },
    "github": { "httpUrl": "https://api.githubcopilot.com/mcp/", "headers": { "Authorization": "Bearer ${key}" } },
    "old": { "url": "https://example.com/sse" }
  }
}
`,
  },
}

function place(home: string, id: string): { readonly file: string; readonly text: string } {
  const { path = '', text = '' } = files[id] ?? {}
  const file = join(home, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text, { mode: 0o640 })
  return { file, text }
}
const configOf = (home: string): string => join(home, '.sluice/sluice.config.yaml')
const serversIn = async (file: string) => (await loadConfig({ file, env: {} })).config.servers ?? {}

test('every client with a JSON file is among these files', () => {
  const json = clients.filter(({ format }) => format === 'json')
  expect(Object.keys(files).sort()).toEqual(json.map(({ id }) => id).sort())
})

test.each(Object.keys(files))('%s: its servers go through Sluice, and back', async (id) => {
  const home = aFolder()
  const { file, text } = place(home, id)
  const shown = await sluiceAt(home, ['protect', id])
  expect(shown).toMatchObject({ code: 1, err: expect.stringContaining('--yes') })
  expect(shown.out).toContain('server-filesystem')
  expect([existsSync(configOf(home)), readFileSync(file, 'utf8')]).toEqual([false, text])

  const done = await sluiceAt(home, ['protect', id, '--yes'])
  expect(done).toMatchObject({ code: 0, err: '' })
  for (const { out } of [shown, done]) expect(out).not.toContain(key)
  const after = readFileSync(file, 'utf8')
  const section = clients.find((each) => each.id === id)?.section[0] ?? ''
  const entries = (parse(after, [], { allowTrailingComma: true }) as { [name: string]: { [name: string]: unknown } })[
    section
  ]
  for (const name of ['files', 'github'])
    expect(entries?.[name]).toMatchObject({
      args: expect.arrayContaining(['connect', name, '--config', configOf(home)]),
    })
  expect(after).not.toContain(key)
  expect(statSync(file).mode & 0o777).toBe(0o640)
  // All lines besides the entries are the same: comments, order, other settings and servers that stay.
  for (const line of text.split('\n'))
    if (/\/\/ Serv|\/\/ the notes|Zed settings|mine|theme|numStartups|globalShortcut|asks|off|postgres|old/.test(line))
      expect(after).toContain(line.replace(/.*(?=\/\/ the notes)/, ''))

  const secret = join(
    home,
    '.sluice/secrets',
    id === 'claude-desktop' ? 'github.GITHUB_PERSONAL_ACCESS_TOKEN' : 'github.Authorization',
  )
  expect([readFileSync(secret, 'utf8'), statSync(secret).mode & 0o777]).toEqual([key, 0o600])
  const servers = await serversIn(configOf(home))
  expect(servers['files']).toMatchObject({
    ...{ command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/srv/notes'] },
    rules: [{ approval: 'always' }],
  })
  expect(JSON.stringify(servers['github'])).toContain(`\${file:${secret}}`)
  expect(Object.keys(servers).sort()).toEqual(id === 'claude-code' ? ['files', 'github', 'shop'] : ['files', 'github'])

  const again = await sluiceAt(home, ['protect', id, '--yes'])
  expect(again).toMatchObject({ code: 0, out: expect.stringContaining('protected already') })
  expect(readFileSync(file, 'utf8')).toBe(after)
  expect(await sluiceAt(home, ['unprotect', id])).toMatchObject({ code: 1 })
  expect(readFileSync(file, 'utf8')).toBe(after)
  expect(await sluiceAt(home, ['unprotect', id, '--yes'])).toMatchObject({ code: 0 })
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([text, 0o640])
  expect(await sluiceAt(home, ['unprotect', id, '--yes'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('--config'),
  })
})

test('import finds the files of all clients, merges equal servers and renames others', async () => {
  const home = aFolder()
  for (const id of Object.keys(files)) place(home, id)
  const cwd = join(home, 'shop')
  mkdirSync(cwd)
  writeFileSync(
    join(cwd, '.mcp.json'),
    `{ "mcpServers": { "files": { "command": "./files.sh", "args": ["--token", "s3cr3t", "\${PORT:-80}"] } } }`,
  )
  const before = Object.keys(files).map((id) => readFileSync(join(home, files[id]?.path ?? ''), 'utf8'))
  const done = await sluiceAt(home, ['import', '--yes', '--trust-hints'], { cwd })
  expect(done).toMatchObject({ code: 0, err: '' })
  expect(done.out).toMatch(/asks stays as it is: it asks you for "token"/)
  expect(done.out).toMatch(/old stays as it is: it speaks HTTP\+SSE/)
  expect(done.out).toMatch(/off stays as it is: it is disabled/)
  const servers = await serversIn(configOf(home))
  expect(Object.keys(servers)).toEqual(['files', 'github', 'github-claude-code', 'shop', 'files-shop'])
  const secret = join(home, '.sluice/secrets/files-shop.arg-1')
  expect(servers['files-shop']).toMatchObject({
    ...{ command: './files.sh', args: ['--token', `\${file:${secret}}`, '80'], cwd, trustHints: true },
  })
  expect(readFileSync(secret, 'utf8')).toBe('s3cr3t')
  const config = YAML.parse(readFileSync(configOf(home), 'utf8')) as object
  expect(config).toMatchObject({
    ...{ data: join(home, '.sluice'), port: 4101, console: { port: 4102 } },
    approvals: { rules: [{ server: Object.keys(servers), annotations: { readOnlyHint: true }, approval: 'never' }] },
  })
  expect(Object.keys(files).map((id) => readFileSync(join(home, files[id]?.path ?? ''), 'utf8'))).toEqual(before)
  expect(await sluiceAt(home, ['import'], { cwd })).toMatchObject({
    code: 0,
    out: expect.stringContaining('Nothing to import'),
  })
})

test('import keeps what people wrote in the configuration, and replaces a server only if told', async () => {
  const home = aFolder()
  place(home, 'cursor')
  const config = join(home, 'sluice.config.yaml')
  const written = `# my servers
port: 4200
servers:
  memory: {}
  files:
    command: files # an older one
    rules: [{ tools: write_*, approval: always }]
`
  writeFileSync(config, written)
  expect(await sluiceAt(home, ['import', '--yes'])).toMatchObject({
    code: 0,
    out: expect.stringContaining('as files-cursor'),
  })
  expect(readFileSync(config, 'utf8')).toContain(
    '# my servers\nport: 4200\nservers:\n  memory: {}\n  files:\n    command: files # an older one\n',
  )
  expect(Object.keys(await serversIn(config))).toEqual(['memory', 'files', 'files-cursor', 'github'])

  writeFileSync(config, written)
  expect(await sluiceAt(home, ['import', '--yes', '--overwrite'])).toMatchObject({ code: 0 })
  const servers = await serversIn(config)
  expect(servers['files']).toMatchObject({ command: 'npx', rules: [{ tools: 'write_*', approval: 'always' }] })

  // Without "servers" the five built-in ones run, and they still do.
  writeFileSync(config, 'port: 4200\n')
  await sluiceAt(home, ['import', '--yes'])
  expect(Object.keys(await serversIn(config))).toEqual([
    'knowledge',
    'memory',
    'fitness',
    'lisp',
    'routes',
    'files',
    'github',
  ])
})

test('two accounts of one service stay two servers, and a token that was changed in Sluice stays', async () => {
  const home = aFolder()
  const { file } = place(home, 'cursor')
  await sluiceAt(home, ['protect', 'cursor', '--yes'])
  const windsurf = place(home, 'windsurf')
  writeFileSync(windsurf.file, windsurf.text.replace(key, 'ghp_another'))
  await sluiceAt(home, ['protect', 'windsurf', '--yes'])
  const secret = (name: string): string => readFileSync(join(home, '.sluice/secrets', `${name}.Authorization`), 'utf8')
  expect([secret('github'), secret('github-windsurf')]).toEqual([key, 'ghp_another'])
  expect(readFileSync(windsurf.file, 'utf8')).toContain('"github-windsurf"')

  writeFileSync(join(home, '.sluice/secrets/github.Authorization'), 'ghp_changed')
  const protectedText = readFileSync(file, 'utf8')
  expect(await sluiceAt(home, ['protect', 'cursor', '--yes'])).toMatchObject({
    out: expect.stringContaining('already'),
  })
  expect([secret('github'), readFileSync(file, 'utf8')]).toEqual(['ghp_changed', protectedText])
})

test('protect after a change protects what is new, and unprotect keeps what others wrote', async () => {
  const home = aFolder()
  const { file, text } = place(home, 'claude-code')
  await sluiceAt(home, ['protect', 'claude-code', '--yes'])
  const added = '"files": {'
  const edit = (from: string, to: string): void => writeFileSync(file, readFileSync(file, 'utf8').replace(from, to))
  // Claude Code counts its starts, and its user adds a server.
  edit('"numStartups": 7', '"numStartups": 8')
  edit(added, `"new": { "type": "stdio", "command": "new" },\n    ${added}`)
  expect(await sluiceAt(home, ['protect', 'claude-code', '--yes'])).toMatchObject({ code: 0 })
  expect(Object.keys(await serversIn(configOf(home)))).toContain('new')
  const expected = text.replace('7', '8').replace(added, `"new": { "type": "stdio", "command": "new" },\n    ${added}`)
  edit('"numStartups": 8', '"numStartups": 9')
  const undone = await sluiceAt(home, ['unprotect', 'claude-code', '--yes'])
  expect(undone).toMatchObject({ code: 0, out: expect.stringContaining('was changed since') })
  expect(readFileSync(file, 'utf8')).toBe(expected.replace('8', '9'))
})

test('a protect that was interrupted before the last step can be repeated and undone', async () => {
  const home = aFolder()
  const { file, text } = place(home, 'cursor')
  await sluiceAt(home, ['protect', 'cursor', '--yes'])
  const after = readFileSync(file, 'utf8')
  // The record is written, the client's file is not.
  writeFileSync(file, text)
  expect(await sluiceAt(home, ['protect', 'cursor', '--yes'])).toMatchObject({ code: 0 })
  expect(readFileSync(file, 'utf8')).toBe(after)
  writeFileSync(file, text)
  expect(await sluiceAt(home, ['unprotect', 'cursor', '--yes'])).toMatchObject({ code: 0 })
  expect(readFileSync(file, 'utf8')).toBe(text)
})

test('a file with a byte order mark, other line ends and a link to it keeps all three', async () => {
  const home = aFolder()
  const real = join(home, 'dotfiles.json')
  const text = `\uFEFF{\r\n  "mcpServers": {\r\n    "files": { ${stdio} }\r\n  }\r\n}\r\n`
  writeFileSync(real, text)
  mkdirSync(join(home, '.cursor'))
  symlinkSync(real, join(home, '.cursor/mcp.json'))
  expect(await sluiceAt(home, ['protect', 'cursor', '--yes'])).toMatchObject({ code: 0 })
  const after = readFileSync(real, 'utf8')
  expect(after.startsWith('\uFEFF{\r\n')).toBe(true)
  expect(after.replaceAll('\r\n', '')).not.toContain('\n')
  await sluiceAt(home, ['unprotect', 'cursor', '--yes'])
  expect(readFileSync(real, 'utf8')).toBe(text)
})

test('a server that gets a folder called sluice is protected too', async () => {
  const home = aFolder()
  const file = join(home, 'mcp.json')
  writeFileSync(
    file,
    '{ "mcpServers": { "files": { "command": "files", "args": ["/work/sluice", "/work/sluice.js"] } } }',
  )
  expect(await sluiceAt(home, ['protect', 'mcp.json', '--yes'])).toMatchObject({ code: 0 })
  expect(readFileSync(file, 'utf8')).toContain('"connect"')
})

test('errors say what to do next', async () => {
  const home = aFolder()
  const said = async (...args: readonly string[]): Promise<string> => (await sluiceAt(home, args)).err
  expect(await said('import')).toContain('sluice import <file>')
  expect(await said('protect', 'claude')).toContain('claude-code')
  expect(await said('protect', 'codex')).toContain('codex mcp add')
  expect(await said('protect', 'cursor')).toContain('sluice protect cursor <file>')
  mkdirSync(join(home, '.cursor'))
  writeFileSync(join(home, '.cursor/mcp.json'), '{ "mcpServers": {\n "a": }')
  expect(await said('protect', 'cursor')).toMatch(/not valid JSON: .* in line 2\. Correct it first/)
  writeFileSync(
    join(home, '.cursor/mcp.json'),
    '{ "mcpServers": { "a": { "command": "x" }, "a": { "command": "y" } } }',
  )
  expect(await said('protect', 'cursor', '--yes')).toContain('has "a" twice')
  expect(await said('import', '-c', 'sluice.config.ts')).toContain('Name a YAML or JSON file')
})
