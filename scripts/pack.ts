/** `npm run pack`: writes every published package as a tarball into out/, and prints the line that installs them. */

import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { published } from './published.ts'

const root = join(import.meta.dirname, '..')
const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'out') } } })
mkdirSync(values.out, { recursive: true })
// The line below installs all tarballs in the folder, so those of an earlier version must not stay.
for (const old of globSync('*.tgz', { cwd: values.out })) rmSync(join(values.out, old))

for (const { folder, name } of published()) {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', values.out]
  const printed = execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const [{ filename }] = JSON.parse(printed) as [{ filename: string }]
  console.log(`${name.padEnd(18)} ${join(values.out, filename)}`)
}
console.log(`\nInstall them in another folder with:\n  npm install ${join(values.out, '*.tgz')}`)
