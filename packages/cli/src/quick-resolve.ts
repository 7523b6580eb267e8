/**
 * Resolves relative imports within installed packages without asking the file system. Node looks for the file, its real
 * path and its package for every import, which takes longer than reading and running the file. Zod alone has 99 files.
 */

/** A file with an extension and without escapes: its URL is its path. */
const plainFile = /^\.\.?\/[\w./-]+\.js$/

/** Does nothing on a Node without synchronous hooks. */
export function resolveQuickly(): void {
  const { registerHooks } = process.getBuiltinModule('node:module')
  /** The format of the `.js` files in a folder. All have the same, because package.json decides it. */
  const formats = new Map<string, string | null | undefined>()
  registerHooks?.({
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
  })
}
