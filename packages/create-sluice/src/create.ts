/** A new project: files of the template, with the project's name in them. */

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const templates = ['node', 'workerd'] as const
export type Template = (typeof templates)[number]

export interface CreateOptions {
  readonly folder: string
  readonly template: Template
  /** What to depend on: a version, or a tarball while trying out what is not published. */
  readonly sluice?: string
}

const templateRoot = fileURLToPath(new URL('../template/', import.meta.url))

/** Only into a folder that is not there yet, or empty: nothing of anybody's is overwritten. */
export function create({ folder, template, sluice = '^0.1.0' }: CreateOptions): readonly string[] {
  const into = resolve(folder)
  const name = basename(into)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
  if (!/^[a-z0-9]/.test(name))
    throw new Error(`"${basename(into)}" makes no package name; begin it with a letter or a digit`)
  if (existsSync(into) && readdirSync(into).length > 0) throw new Error(`${into} is not empty; choose another folder`)
  mkdirSync(into, { recursive: true })
  for (const part of ['common', template]) cpSync(join(templateRoot, part), into, { recursive: true })
  for (const file of readdirSync(into)) {
    const path = join(into, file)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('NAME', name))
  }
  writeFileSync(join(into, 'package.json'), `${JSON.stringify(packageOf(name, template, sluice), undefined, 2)}\n`)
  writeFileSync(join(into, 'README.md'), readmeOf(name, template, into))
  writeFileSync(join(into, '.gitignore'), 'node_modules/\ndist/\n')
  return readdirSync(into).sort()
}

const packageOf = (name: string, template: Template, sluice: string): object => ({
  name,
  version: '0.1.0',
  private: true,
  type: 'module',
  engines: { node: '>=22.18' },
  scripts:
    template === 'node'
      ? { start: 'node main.ts', test: 'node --test', check: 'tsc' }
      : {
          build: 'esbuild worker.ts --bundle --format=esm --conditions=workerd --outfile=dist/worker.js',
          start: 'npm run build && workerd serve workerd.capnp',
          test: 'node --test',
          check: 'tsc',
        },
  dependencies: { sluice, zod: '^4.6.0' },
  devDependencies: {
    '@types/node': '^24.0.0',
    typescript: '^7.0.0',
    ...(template === 'workerd' && { esbuild: '^0.28.0', workerd: '^1.20261023.1' }),
  },
})

function readmeOf(name: string, template: Template, folder: string): string {
  // With the whole path: a client starts it from wherever it is itself.
  const args = JSON.stringify([join(folder, 'main.ts'), '--stdio'])
  const stdio = `{ "mcpServers": { "${name}": { "command": "node", "args": ${args} } } }`
  const http = `{ "mcpServers": { "${name}": { "type": "http", "url": "http://127.0.0.1:8080/" } } }`
  const deploy =
    template === 'node'
      ? '`service.conf` is a unit for systemd: copy the project to its folder, run `npm ci --omit=dev`, enable it. Past one machine: a balancer in front, Redis behind.'
      : '`npm run build` makes one file, `dist/worker.js`, which `workerd serve workerd.capnp` runs; the same file runs on Cloudflare.'
  return `# ${name}

An MCP server on [Sluice](https://www.npmjs.com/package/sluice). The tools are in \`server.ts\`.

\`\`\`sh
npm install
npm test
npm start
\`\`\`

In a client:

\`\`\`json
${template === 'node' ? stdio : http}
\`\`\`

## Deploying

${deploy}
`
}
