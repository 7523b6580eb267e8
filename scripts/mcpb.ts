/**
 * `npm run mcpb`: packs the memory and knowledge servers as bundles that desktop clients install with a click, in out/
 * or in the folder of `--out`.
 *
 * A bundle contains what npm would install: the packed packages and their dependencies. sqlite-vec has a native build
 * per platform, and a bundle serves every platform, so that of memory contains all of them.
 */

import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { packExtension } from '@anthropic-ai/mcpb'
import vec from '../node_modules/sqlite-vec/package.json' with { type: 'json' }
import { published } from './published.ts'

const root = join(import.meta.dirname, '..')
const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'out') } } })
mkdirSync(values.out, { recursive: true })

const bundles: readonly { readonly server: string; readonly native: { readonly [name: string]: string } }[] = [
  { server: 'memory', native: vec.optionalDependencies },
  { server: 'knowledge', native: {} },
]

const npm = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('npm', [...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

const work = mkdtempSync(join(tmpdir(), 'sluice-mcpb-'))
try {
  const packages = published()
  const packed = (name: string): string => {
    const found = packages.find((each) => each.name === name)
    if (!found) throw new Error(`Package not found: ${name}`)
    const [{ filename }] = JSON.parse(
      npm(found.folder, 'pack', '--ignore-scripts', '--json', '--pack-destination', work),
    ) as [{ filename: string }]
    return `file:${join(work, filename)}`
  }
  const sluice = packed('sluice')
  for (const { server, native } of bundles) {
    const bundle = join(work, server)
    mkdirSync(bundle)
    const dependencies = { sluice, [`@sluice/${server}`]: packed(`@sluice/${server}`), ...native }
    writeFileSync(join(bundle, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }))
    // `--force`, because most of the native builds are not for this machine.
    npm(bundle, 'install', '--omit=optional', '--omit=peer', '--force', '--no-audit', '--no-fund', '--prefer-offline')
    copyFileSync(join(root, `servers/${server}/manifest.json`), join(bundle, 'manifest.json'))
    // All of these files contain paths of this machine.
    for (const file of ['package.json', 'package-lock.json', 'node_modules/.package-lock.json'])
      rmSync(join(bundle, file), { force: true })
    const outputPath = join(values.out, `sluice-${server}.mcpb`)
    if (!(await packExtension({ extensionPath: bundle, outputPath, silent: true })))
      throw new Error(`${server} could not be bundled`)
    console.log(outputPath)
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}
