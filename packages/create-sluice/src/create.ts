/** Creates a new project from the files of a template, with the project's name in them. */

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const templates = ['node', 'workerd'] as const
export type Template = (typeof templates)[number]

export interface CreateOptions {
  readonly folder: string
  readonly template: Template
  /** The dependency on sluice: a version, or a tarball to try an unpublished build. */
  readonly sluice?: string
}

const templateRoot = fileURLToPath(new URL('../template/', import.meta.url))

/** Creates the project in a new or empty folder only, so that no existing file is overwritten. */
export function create({ folder, template, sluice = '^0.1.0' }: CreateOptions): readonly string[] {
  const target = resolve(folder)
  const name = basename(target)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
  if (!/^[a-z0-9]/.test(name))
    throw new Error(`"${basename(target)}" is not a valid package name; start it with a letter or a digit`)
  if (existsSync(target) && readdirSync(target).length > 0)
    throw new Error(`${target} is not empty; choose another folder`)
  mkdirSync(target, { recursive: true })
  for (const part of ['common', template]) cpSync(join(templateRoot, part), target, { recursive: true })
  for (const file of readdirSync(target)) {
    const path = join(target, file)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('NAME', name))
  }
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(packageOf(name, template, sluice), undefined, 2)}\n`)
  writeFileSync(join(target, 'README.md'), readmeOf(name, template, target))
  writeFileSync(join(target, '.gitignore'), 'node_modules/\ndist/\n')
  return readdirSync(target).sort()
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
  // Uses the absolute path, because a client starts the server from any working folder.
  const args = JSON.stringify([join(folder, 'main.ts'), '--stdio'])
  const stdio = `{ "mcpServers": { "${name}": { "command": "node", "args": ${args} } } }`
  const http = `{ "mcpServers": { "${name}": { "type": "http", "url": "http://127.0.0.1:8080/" } } }`
  const deploy =
    template === 'node'
      ? '`service.conf` is a unit for systemd: copy the project to its folder, run `npm ci --omit=dev`, and enable the unit. For several machines, add a load balancer and Redis.'
      : '`npm run build` makes one file, `dist/worker.js`. `workerd serve workerd.capnp` runs it, and so does Cloudflare.'
  return `# ${name}

An MCP server on [Sluice](https://www.npmjs.com/package/sluice). The tools are in \`server.ts\`.

\`\`\`sh
npm install
npm test
npm start
\`\`\`

Add it to a client:

\`\`\`json
${template === 'node' ? stdio : http}
\`\`\`

## Deployment

${deploy}
`
}
