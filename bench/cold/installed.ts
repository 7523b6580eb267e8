/** The command and a server as a user has them: unpacked from the tarballs that npm would publish. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '../..')
/** The server of this section, and the files that it imports. */
const server = ['bench/cold/server.ts', 'bench/contenders/sluice/server.ts', 'bench/lib/tools.ts']

/** Fills the folder, and returns the file of the command. Packages of others are links to those of this repository. */
export function installTarballs(folder: string): string {
  const modules = join(folder, 'node_modules')
  for (const [name, source] of [
    ['sluice', 'packages/sluice'],
    ['@sluice/cli', 'packages/cli'],
  ] as const) {
    const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]
    const printed = execFileSync('npm', args, {
      cwd: join(root, source),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [{ filename }] = JSON.parse(printed) as [{ filename: string }]
    mkdirSync(join(modules, name), { recursive: true })
    execFileSync('tar', ['-xzf', join(folder, filename), '-C', join(modules, name), '--strip-components=1'])
  }
  for (const name of readdirSync(join(root, 'node_modules')))
    if (!name.startsWith('.') && !['sluice', '@sluice'].includes(name))
      symlinkSync(join(root, 'node_modules', name), join(modules, name))
  for (const file of [...server, 'bench/package.json']) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(root, file), join(folder, file))
  }
  return join(modules, '@sluice/cli/bin/sluice.js')
}
