/**
 * Resolves relative imports within installed packages without asking the file system. Node looks for the file, its real
 * path and its package for every import, which takes longer than reading and running the file. Zod alone has 99 files.
 */

/** A file with an extension and without escapes: its URL is its path. */
const plainFile = /^\.\.?\/[\w./-]+\.m?js$/

/** Does nothing on a Node without synchronous hooks. */
export function resolveQuickly(): void {
  const { registerHooks } = process.getBuiltinModule('node:module')
  registerHooks?.({
    resolve(specifier, context, nextResolve) {
      const { parentURL, conditions } = context
      // The importer has its real path already. `require` also looks for other files, and has its own cache.
      if (parentURL?.includes('/node_modules/') && conditions.includes('import') && plainFile.test(specifier))
        return { url: new URL(specifier, parentURL).href, shortCircuit: true }
      return nextResolve(specifier, context)
    },
  })
}
