/**
 * Reloads a module, and what it imports of the same project, while clients stay connected: they keep their connection and
 * hear which lists changed. A version in each file's address makes Node load it anew.
 */

import { watch } from 'node:fs'
import * as nodeModules from 'node:module'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Server } from 'sluice'
import { CommandError } from '../output.ts'
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
  // Not by name: Node 22.13 and 22.14 have none, and could load nothing of the command.
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
  let waiting: NodeJS.Timeout | undefined
  async function reload(): Promise<void> {
    version++
    try {
      const definition = definitionIn(await importModule(module, `?v=${version}`))
      if (!definition) throw new TypeError('it exports no server any more')
      server.update(withDeadline(definition, timeoutMs))
      print(`Reloaded ${module}`)
    } catch (thrown) {
      // What runs goes on as it was.
      print(`Not reloaded: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    }
  }
  const watcher = watch(root, { recursive: true }, (_, file) => {
    // What stands in folders such as .sluice and .git is nobody's module.
    if (file === null || !/\.([cm]?[jt]s|json)$/.test(file) || /(^|[\\/])(\.|node_modules)/.test(file)) return
    clearTimeout(waiting)
    waiting = setTimeout(() => {
      // It has told why; the next change of a file tries again.
      reload().catch(() => {})
    }, settleMs)
  })
  return () => {
    clearTimeout(waiting)
    watcher.close()
    hooks.deregister()
  }
}
