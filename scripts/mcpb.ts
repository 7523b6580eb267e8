/**
 * `npm run mcpb`: the memory and knowledge servers as bundles that desktop clients install with a click, in out/.
 *
 * A bundle holds what npm would install: the packed packages and their dependencies. Native builds of sqlite-vec are left
 * out, since a bundle goes to every platform; memory then searches by words alone.
 */

import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packExtension } from '@anthropic-ai/mcpb'
import { published } from './published.ts'

const out = join(import.meta.dirname, '../out')
mkdirSync(out, { recursive: true })

const npm = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('npm', [...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })

const work = mkdtempSync(join(tmpdir(), 'sluice-mcpb-'))
try {
  const packages = published()
  const packed = (name: string): string => {
    const found = packages.find((each) => each.name === name)
    if (!found) throw new Error(`There is no package ${name}`)
    const [{ filename }] = JSON.parse(
      npm(found.folder, 'pack', '--ignore-scripts', '--json', '--pack-destination', work),
    ) as [{ filename: string }]
    return `file:${join(work, filename)}`
  }
  const sluice = packed('sluice')
  for (const server of ['memory', 'knowledge']) {
    const bundle = join(work, server)
    mkdirSync(bundle)
    const dependencies = { sluice, [`@sluice/${server}`]: packed(`@sluice/${server}`) }
    writeFileSync(join(bundle, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }))
    npm(bundle, 'install', '--omit=optional', '--no-audit', '--no-fund', '--prefer-offline')
    copyFileSync(join(import.meta.dirname, `../servers/${server}/manifest.json`), join(bundle, 'manifest.json'))
    // Both name places on this machine.
    for (const file of ['package.json', 'package-lock.json']) rmSync(join(bundle, file))
    const outputPath = join(out, `sluice-${server}.mcpb`)
    if (!(await packExtension({ extensionPath: bundle, outputPath, silent: true })))
      throw new Error(`${server} could not be bundled`)
    console.log(outputPath)
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}
