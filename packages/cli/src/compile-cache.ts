/**
 * Keeps compiled code for the next start: of this command, of the server's module, and of the packages that it imports.
 * Node checks each entry against its source, and compiles as usual without one.
 */

/** Does nothing if the folder cannot be made or belongs to another account, because Node runs the code in it. */
export function enableCompileCache(env: Readonly<Record<string, string | undefined>>): void {
  // Not imported, because this file is loaded before the version of Node is checked.
  const { mkdirSync, statSync } = process.getBuiltinModule('node:fs')
  const { homedir } = process.getBuiltinModule('node:os')
  const { join } = process.getBuiltinModule('node:path')
  const folder = join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'sluice')
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { uid, mode } = statSync(folder)
    const isPrivate = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)
    if (isPrivate) process.getBuiltinModule('node:module').enableCompileCache(folder)
  } catch {
    // A container may have no home, or one that is read-only.
  }
}
