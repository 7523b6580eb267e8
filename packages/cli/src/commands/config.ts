/** `sluice config print`: the effective configuration and the origin of each value. */

import { maskLiteral } from '../config/literal-secrets.ts'
import { isInGroup, loadConfig, variableOf } from '../config/load.ts'
import { secretNames, toJsonSchema } from '../config/schema.ts'
import { leavesOf, pathText } from '../config/tree.ts'
import { exitCodes, table, toJson } from '../output.ts'
import type { CommandContext } from './context.ts'

export async function configPrint(
  { terminal, env, cwd }: CommandContext,
  options: { readonly config?: string; readonly json?: boolean },
): Promise<number> {
  const { config, origins } = await loadConfig({ file: options.config, cwd, env })
  const secrets = secretNames.filter((name) => env[name]).map((name) => ({ name, value: '(set)' }))
  if (options.json) {
    const json = {
      config: maskSecrets(config),
      origins: Object.fromEntries(origins),
      secrets: secrets.map(({ name }) => name),
    }
    terminal.out(toJson(json))
    return exitCodes.ok
  }
  const rows = leavesOf(config)
    .filter(([, value]) => value !== undefined)
    .map(([path, value]) => {
      const text = pathText(path)
      return [text, maskValue(text, maskLiteral(path.at(-1) ?? '', value)), originOf(text, origins), variableOf(path)]
    })
  for (const { name, value } of secrets) rows.push([name, value, 'environment', name])
  terminal.out(table(terminal, ['SETTING', 'VALUE', 'FROM', 'VARIABLE'], rows))
  return exitCodes.ok
}

export async function configSchemaPrint({ terminal }: CommandContext): Promise<number> {
  terminal.out(toJson(toJsonSchema()))
  return exitCodes.ok
}

const originOf = (path: string, origins: ReadonlyMap<string, string>): string =>
  origins.get(path) ?? [...origins].find(([each]) => isInGroup(path, each))?.[1] ?? 'default'

/** Masks secrets. None belong here, but a URL may contain a password all the same. */
const maskValue = (path: string, value: unknown): string =>
  typeof value === 'string' && /secret(?!File)|password|token$/i.test(path)
    ? '(hidden)'
    : (typeof value === 'string' ? value : JSON.stringify(value)).replace(/(\/\/[^/:@\s]*):[^/@\s]+@/g, '$1:(hidden)@')

/** Masks every string in a value. */
function maskSecrets(value: unknown, path = ''): unknown {
  if (typeof value === 'string') return maskValue(path, maskLiteral(path, value))
  if (Array.isArray(value)) return (maskLiteral(path, value) as unknown[]).map((each) => maskSecrets(each, path))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, maskSecrets(each, name)]))
}
