/** Opens servers: the five built-in ones by name, and others from a module. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Clock, HostContext, Logger, OpenedServer, OpenServer, ServerDefinition } from 'sluice'
import { didYouMean } from 'sluice/extend'
import { serverFolder } from 'sluice/main'
import { type Environment, removeVariables } from 'sluice/node'
import { secretNames } from '../config/secret-names.ts'
import { CommandError, exitCodes } from '../output.ts'
import { describeModuleError } from './module-error.ts'
import { omitUndefined } from './omit-undefined.ts'

/** Loaded on demand, because each has its own libraries. */
const builtInServers: { readonly [name: string]: () => Promise<{ readonly open: OpenServer }> } = {
  knowledge: () => import('@sluice/knowledge'),
  memory: () => import('@sluice/memory'),
  fitness: () => import('@sluice/fitness'),
  lisp: () => import('@sluice/lisp'),
  routes: () => import('@sluice/routes'),
}
export const builtInNames: readonly string[] = Object.keys(builtInServers)

export interface OpenServerOptions {
  readonly name: string
  readonly module?: string | undefined
  /** The data folder of the host. */
  readonly folder: string
  /** The folder that the server serves. */
  readonly argument?: string | undefined
  readonly env: Environment
  /** Only built-in servers get it, because its password opens the store. */
  readonly postgres?: string | undefined
  readonly logger: Logger
  readonly clock: Clock
}

export async function openServer({
  name,
  module,
  folder,
  argument,
  env,
  postgres,
  logger,
  clock,
}: OpenServerOptions): Promise<OpenedServer> {
  const context = {
    ...{ folder: serverFolder(folder, name), env: withoutSecrets(env), logger, clock },
    ...omitUndefined({ argument, postgres: module === undefined ? postgres : undefined }),
  }
  const opened = await loadServer(name, module, context)
  removeVariables(opened.secrets ?? [])
  return opened
}

/** Removes the host's secrets, which servers must not see. */
const withoutSecrets = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !(secretNames as readonly string[]).includes(name)))

async function loadServer(name: string, module: string | undefined, context: HostContext): Promise<OpenedServer> {
  if (module !== undefined) return fromModule(await importModule(module), module, context)
  const load = builtInServers[name]
  if (!load) {
    throw new CommandError(
      `Unknown server "${name}"${didYouMean(name, builtInNames)}. Use one of ${builtInNames.join(', ')}, or a module such as ./server.ts`,
      exitCodes.usage,
    )
  }
  return (await load()).open(context)
}

/** Whether the target is a path to a module and not a built-in server. */
export const isModule = (target: string): boolean =>
  !Object.hasOwn(builtInServers, target) && (existsSync(target) || /[./\\]/.test(target))

export async function importModule(path: string, version = ''): Promise<object> {
  const file = resolve(path)
  if (!existsSync(file)) throw new CommandError(`The module ${file} does not exist`, exitCodes.usage)
  try {
    return (await import(`${pathToFileURL(file).href}${version}`)) as object
  } catch (thrown) {
    const message = describeModuleError(thrown, path, process.cwd())
    throw new CommandError(message, exitCodes.failed, { cause: thrown })
  }
}

/** Opens the server of a module: its `open` function, its default export, or the first exported definition. */
async function fromModule(exported: object, path: string, context: Parameters<OpenServer>[0]): Promise<OpenedServer> {
  const values = Object.entries(exported)
  const open = values.find(([name, value]) => name === 'open' && typeof value === 'function')?.[1] as
    | OpenServer
    | undefined
  if (open) return open(context)
  const definition = definitionIn(exported)
  if (!definition)
    throw new CommandError(
      `${path} exports no server. Export the result of defineServer({ … }), or a function "open".`,
      exitCodes.usage,
    )
  return { definition, state: 'ready', close: async () => {} }
}

export function definitionIn(exported: object): ServerDefinition | undefined {
  const isDefinition = (value: unknown): value is ServerDefinition =>
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    typeof value.name === 'string' &&
    'version' in value &&
    typeof value.version === 'string'
  const byName = exported as { readonly default?: unknown }
  return isDefinition(byName.default) ? byName.default : Object.values(exported).find(isDefinition)
}
