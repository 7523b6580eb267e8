/**
 * Joins the compiled modules into few files. Node spends longer finding and opening a file than running it.
 *
 * The library has `core.js` for what runs anywhere and most servers use, `host.js` for what they use on Node, and a file
 * per entry with the rest. The console's server is one file beside the files of its page. The command has `command.js` for
 * what every command loads, `serving.js` for `sluice serve`, and a file per command with the rest.
 */

import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'esbuild'
import pkg from '../packages/sluice/package.json' with { type: 'json' }
import { createBundler } from './bundler.ts'
import { markEager } from './eager.ts'
import { profileStarts } from './start-profile.ts'

const packages = join(import.meta.dirname, '../packages')

async function bundleLibrary(): Promise<void> {
  const root = join(packages, 'sluice')
  const entries = Object.values(pkg.exports).map(({ default: path }) => path.replace('./lib/', ''))
  /** The store contract starts it as a separate process. */
  const programs = ['stores/contract-child.js']
  /** Stays a file, so that `export * as ask` stays one: as an object it would bring every question into every worker. */
  const namespaces = ['protocol/ask.js']
  /** Entries that need Node: what only they share may too. */
  const onNode = new Set([
    'node.js',
    'main.js',
    'transports/node/websocket.js',
    'testing/index.js',
    'internal.js',
    ...programs,
  ])
  const onNodeToo = /^(stores|client\/node|gateway\/node|skills\/node)\//
  /** Leaves namespaces of the root entry in their own files. */
  const keepNamespaces: Plugin = {
    name: 'keep-namespaces',
    setup({ onResolve }) {
      onResolve({ filter: /\/ask\.js$/ }, ({ path, importer }) =>
        relative(join(root, 'dist'), importer) === 'index.js'
          ? { path, external: true, sideEffects: false }
          : undefined,
      )
    },
  }

  rmSync(join(root, 'lib'), { recursive: true, force: true })
  const bundler = createBundler(root)
  const all = [...entries, ...programs, ...namespaces]
  const { reach } = await bundler.modulesOf(all)
  const portable = ['index.js', 'plugins/index.js', 'audit.js', 'extend.js', 'transports/fetch.js']
  const core = await bundler.toJoined(
    'core.js',
    new Set(portable.flatMap((entry) => [...reach(entry)]).filter((module) => module !== 'index.js')),
  )
  const alsoPortable = new Set(
    all.filter((entry) => !onNode.has(entry) && !onNodeToo.test(entry)).flatMap((entry) => [...reach(entry)]),
  )
  const host = await bundler.toJoined(
    'host.js',
    [...reach('node.js')].filter((module) => !alsoPortable.has(module)),
  )
  await bundler.writeJoined(core)
  await bundler.writeJoined(host, [core])
  await bundler.writeEntries(all, [core, host], [keepNamespaces])
}

async function bundleConsole(): Promise<void> {
  const root = join(packages, 'console')
  rmSync(join(root, 'lib'), { recursive: true, force: true })
  await createBundler(root).writeEntries(['server/index.js'], [])
}

async function bundleCommand(): Promise<void> {
  const root = join(packages, 'cli')
  rmSync(join(root, 'lib'), { recursive: true, force: true })
  const bundler = createBundler(root, ['commander'])
  const entries = ['main.js', 'index.js']
  const { reach, onDemand } = await bundler.modulesOf(entries)
  const ofCommand = [...reach('process.js')].filter((module) => !module.includes('node_modules'))
  const ofServing = [...reach('commands/serve.js')].filter((module) => !ofCommand.includes(module))
  const command = await bundler.toJoined('command.js', ofCommand)
  const serving = await bundler.toJoined('serving.js', ofServing)
  await bundler.writeJoined(command)
  await bundler.writeJoined(serving, [command])
  await bundler.writeEntries([...entries, ...onDemand], [command, serving])
  copyFileSync(join(root, 'node_modules/commander/LICENSE'), join(root, 'lib/commander.LICENSE'))
}

/** Has V8 compile what a start runs together with its file, so that later starts find it in the compile cache. */
async function markStartFunctions(): Promise<void> {
  for (const [url, starts] of await profileStarts()) {
    const file = url.startsWith('file:') ? relative(packages, fileURLToPath(url)) : '..'
    if (!/^(sluice|cli)\/lib\//.test(file)) continue
    const path = join(packages, file)
    writeFileSync(path, markEager(readFileSync(path, 'utf8'), starts))
  }
}

await bundleLibrary()
await bundleConsole()
await bundleCommand()
await markStartFunctions()
