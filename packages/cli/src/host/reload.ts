/**
 * Reloads a module and its imports of the same project. Clients stay connected and are notified which lists changed. A
 * version in each file's URL makes Node load it again.
 */

import { watch } from 'node:fs'
import * as nodeModules from 'node:module'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Server } from 'sluice'
import { CommandError } from '../output.ts'
import { describeModuleError } from './module-error.ts'
import { withDeadline } from './run.ts'
import { definitionIn, importModule } from './servers.ts'

/** Editors write a file in several steps. */
const settleMs = 80

export function watchModule(
  module: string,
  server: Server,
  timeoutMs: number | undefined,
  print: (text: string) => void,
): () => void {
  const root = dirname(resolve(module))
  const rootUrl = `${pathToFileURL(root).href}/`
  let version = 0
  // A named import would fail on Node 22.13 and 22.14, which lack it, and the command would not load at all.
  if (!('registerHooks' in nodeModules)) throw new CommandError('--watch needs Node 22.15 or newer')
  const hooks = nodeModules.registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context)
      const isOurs =
        version > 0 &&
        found.url.startsWith(rootUrl) &&
        !found.url.includes('/node_modules/') &&
        !found.url.includes('?')
      return isOurs ? { ...found, url: `${found.url}?v=${version}` } : found
    },
  })
  let settleTimer: NodeJS.Timeout | undefined
  async function reload(): Promise<void> {
    version++
    try {
      const definition = definitionIn(await importModule(module, `?v=${version}`))
      if (!definition) throw new TypeError('it no longer exports a server')
      server.update(withDeadline(definition, timeoutMs))
      print(`Reloaded ${module}`)
    } catch (thrown) {
      // The running server stays as it was.
      print(
        `Not reloaded: ${thrown instanceof CommandError ? thrown.message : describeModuleError(thrown, module, process.cwd())}`,
      )
    }
  }
  const watcher = watch(root, { recursive: true }, (_, file) => {
    // Folders such as .sluice and .git contain no modules.
    if (file === null || !/\.([cm]?[jt]s|json)$/.test(file) || /(^|[\\/])(\.|node_modules)/.test(file)) return
    clearTimeout(settleTimer)
    settleTimer = setTimeout(() => {
      // It has printed the cause, and the next change of a file tries again.
      reload().catch(() => {})
    }, settleMs)
  })
  return () => {
    clearTimeout(settleTimer)
    watcher.close()
    hooks.deregister()
  }
}
