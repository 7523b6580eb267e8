/**
 * Finds modules of installed packages, and reads all modules, in fewer steps than Node. For every import, Node looks
 * for the file, its real path and its package, opens it, asks for its size, and decodes it. That takes longer than
 * running it. Zod alone has 99 files.
 */

/** A file with an extension and without escapes: its URL is its path. */
const plainFile = /^\.\.?\/[\w./-]+\.js$/

/** Options that load a file before this one. A configuration of Node may hold them too. */
const preloads = /(^|\s)(-r|--(import|require|loader|experimental-loader|experimental-(default-)?config-file))\b/

/**
 * Does nothing on a Node without synchronous hooks, and if hooks of others may be there: they would not see the modules
 * that are found and read here. Hooks that a server registers itself run before these.
 */
export function loadModulesQuickly(): void {
  const nodeModule = process.getBuiltinModule('node:module')
  const { register, registerHooks } = nodeModule
  const { execArgv, env } = process
  if (!registerHooks || preloads.test([...execArgv, env['NODE_OPTIONS']].join(' '))) return
  const { readFileSync } = process.getBuiltinModule('node:fs')
  const { fileURLToPath } = process.getBuiltinModule('node:url')
  /** The format of the `.js` files in a folder. All have the same, because package.json decides it. */
  const formats = new Map<string, string | null | undefined>()
  function read(url: string): string {
    const path = fileURLToPath(url)
    try {
      // Node removes a byte order mark too. A line "#!" after it would be a syntax error.
      return readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
    } catch (thrown) {
      if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT')) throw thrown
      // Node's code, which tells packages that their optional file is not there.
      throw Object.assign(new Error(`Cannot find module '${path}'`, { cause: thrown }), {
        code: 'ERR_MODULE_NOT_FOUND',
        url,
      })
    }
  }
  const hooks = registerHooks({
    resolve(specifier, context, nextResolve) {
      const { parentURL, conditions } = context
      // The importer has its real path already. `require` also looks for other files, and has its own cache.
      if (!parentURL?.includes('/node_modules/') || !conditions.includes('import') || !plainFile.test(specifier))
        return nextResolve(specifier, context)
      const { href: url } = new URL(specifier, parentURL)
      const folder = url.slice(0, url.lastIndexOf('/'))
      const format = formats.get(folder)
      if (format) return { url, format, shortCircuit: true }
      const found = nextResolve(specifier, context)
      formats.set(folder, found.format)
      return found
    },
    load(url, context, nextLoad) {
      if (context.format !== 'module' || !url.startsWith('file:')) return nextLoad(url, context)
      return { format: 'module', source: read(url), shortCircuit: true }
    },
  })
  // Hooks in a separate thread run after these. Newer versions of Node may have none.
  if (typeof register !== 'function') return
  nodeModule.register = new Proxy(register, {
    apply(target, self, args) {
      hooks.deregister()
      Reflect.apply(target, self, args)
    },
  })
  nodeModule.syncBuiltinESMExports()
}
