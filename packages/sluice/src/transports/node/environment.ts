/** The environment: the variables this process reads, and those that a child process may see. For Node only. */

/** Variables by name, as `process.env` holds them. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Variables for paths, the user, text and time. None of these holds a credential. */
const inherited = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'TZ', 'TMPDIR', 'LANG', 'LANGUAGE'],
  ...['LC_ALL', 'LC_COLLATE', 'LC_CTYPE', 'LC_MESSAGES', 'LC_MONETARY', 'LC_NUMERIC', 'LC_TIME'],
  // Windows programs do not start without these.
  ...['APPDATA', 'COMSPEC', 'HOMEDRIVE', 'HOMEPATH', 'LOCALAPPDATA', 'PATHEXT', 'PROCESSOR_ARCHITECTURE'],
  ...['PROGRAMDATA', 'PROGRAMFILES', 'SYSTEMDRIVE', 'SYSTEMROOT', 'TEMP', 'TMP', 'USERNAME', 'USERPROFILE', 'WINDIR'],
])

/**
 * Returns the environment for a process that a server starts: an allow-list, and what the server adds. Code in that
 * process may be an agent's, which could otherwise sign its own approvals with the server's secrets.
 */
export function childEnvironment(env: Environment, additions: Environment = {}): Record<string, string> {
  const result: Record<string, string> = {}
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && inherited.has(name.toUpperCase())) result[name] = value
  for (const [name, value] of Object.entries(additions)) if (value !== undefined) result[name] = value
  return result
}

/**
 * Returns a copy of the environment and removes every `SLUICE_` variable from the original. Each program that a tool or
 * a library starts inherits the original, and secrets of the server must not be in it.
 */
export function takeEnvironment(env: NodeJS.ProcessEnv = process.env): Environment {
  const copy = { ...env }
  removeVariables(
    Object.keys(env).filter((name) => /^sluice_/i.test(name)),
    env,
  )
  return copy
}

/** Removes variables whose values were read, such as the keys of a provider. */
export function removeVariables(names: readonly string[], env: NodeJS.ProcessEnv = process.env): void {
  for (const name of names) delete env[name]
}
