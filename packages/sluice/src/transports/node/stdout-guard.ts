/**
 * Reserves stdout for the protocol. One stray line there breaks the connection with most clients, so all other writes
 * go to stderr: `console.log`, a library's `process.stdout.write`, a child process that inherits the stream.
 */

type Write = typeof process.stdout.write

/**
 * Returns the real writer, for the protocol only. This cannot be undone, because a process with MCP on stdout writes
 * nothing else there.
 */
export function guardStdout(): Write {
  const write: Write = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr) as Write
  guardChildren()
  return write
}

/** Every asynchronous function that starts a child ends in this method. */
interface ChildProcessPrototype {
  spawn(options: { stdio?: unknown }): unknown
}

/** The built-in modules that start children, or that load the one that does. */
const starters = /^(?:node:)?(?:child_process|cluster|test)$/

/** Waits until a module that starts children is asked for. Most servers ask for none, and loading it takes a while. */
function guardChildren(): void {
  const { registerHooks } = process.getBuiltinModule('node:module')
  if (!registerHooks || isLoaded('child_process')) {
    redirectChildren()
    return
  }
  const { getBuiltinModule } = process
  const redirectIfStarter = (name: string): void => {
    if (!starters.test(name)) return
    hooks.deregister()
    process.getBuiltinModule = getBuiltinModule
    redirectChildren()
  }
  const hooks = registerHooks({
    resolve(specifier, context, nextResolve) {
      redirectIfStarter(specifier)
      return nextResolve(specifier, context)
    },
  })
  process.getBuiltinModule = ((name: string) => {
    redirectIfStarter(name)
    return getBuiltinModule(name)
  }) as typeof getBuiltinModule
}

/** Returns true also on a runtime that does not tell. */
function isLoaded(name: string): boolean {
  const { moduleLoadList: list } = process as { readonly moduleLoadList?: readonly string[] }
  return list?.includes(`NativeModule ${name}`) ?? true
}

function redirectChildren(): void {
  const childProcess = process.getBuiltinModule('node:child_process')
  const { syncBuiltinESMExports } = process.getBuiltinModule('node:module')
  const prototype: ChildProcessPrototype = childProcess.ChildProcess.prototype as unknown as ChildProcessPrototype
  const { spawn } = prototype
  prototype.spawn = function guarded(this: ChildProcessPrototype, options) {
    return spawn.call(this, { ...options, stdio: redirectStdio(options.stdio) })
  }
  const { spawnSync, execFileSync, execSync } = childProcess
  Object.assign(childProcess, {
    spawnSync: (file: string, ...rest: unknown[]) =>
      Reflect.apply(spawnSync, childProcess, [file, ...rest.map(guardOptions)]),
    execFileSync: (file: string, ...rest: unknown[]) =>
      Reflect.apply(execFileSync, childProcess, [file, ...rest.map(guardOptions)]),
    execSync: (command: string, ...rest: unknown[]) =>
      Reflect.apply(execSync, childProcess, [command, ...rest.map(guardOptions)]),
  })
  // Named imports of built-in modules see the change only after this.
  syncBuiltinESMExports()
}

const guardOptions = (argument: unknown): unknown =>
  typeof argument === 'object' && argument !== null && 'stdio' in argument
    ? { ...argument, stdio: redirectStdio(argument.stdio) }
    : argument

/** Redirects stdout, and stdin too. A child that reads stdin would take requests that are then never answered. */
function redirectStdio(stdio: unknown): unknown {
  if (stdio === 'inherit') return ['ignore', 2, 'inherit']
  if (!Array.isArray(stdio)) return stdio
  return stdio.map((target: unknown, fd) => {
    if (target === 0 || target === process.stdin || (target === 'inherit' && fd === 0)) return 'ignore'
    return target === 1 || target === process.stdout || (target === 'inherit' && fd === 1) ? 2 : target
  })
}
