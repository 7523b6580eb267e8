/** `sluice config print`: the effective configuration and the origin of each value. */

import { maskLiteral } from '../config/literal-secrets.ts'
import { isInGroup, loadConfig, variableOf } from '../config/load.ts'
import { toJsonSchema } from '../config/schema.ts'
import { secretNames } from '../config/secret-names.ts'
import { leavesOf, pathText } from '../config/tree.ts'
import { exitCodes, shortPath, styled, type Terminal, table, toJson } from '../output.ts'
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
  terminal.out(
    terminal.isTty
      ? narrowTable(
          terminal,
          rows.map(([setting = '', value = '', from = '', variable = '']) => [
            setting,
            shortPath(cwd, from),
            variable,
            value,
          ]),
        )
      : table(terminal, ['SETTING', 'VALUE', 'FROM', 'VARIABLE'], rows),
  )
  return exitCodes.ok
}

/** A narrower column for values would have a few characters per line. */
const minValueWidth = 24

/**
 * Makes the table for a terminal. Values are whole, on several lines if necessary. The variables are left out if they
 * do not fit.
 */
function narrowTable(terminal: Terminal, rows: readonly (readonly [string, string, string, string])[]): string {
  const head = ['SETTING', 'FROM', 'VARIABLE', 'VALUE'] as const
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)))
  const spaceAfter = (columns: readonly number[]): number =>
    terminal.columns - columns.reduce((sum, at) => sum + (widths[at] ?? 0) + 2, 0)
  const shown = spaceAfter([0, 1, 2]) >= minValueWidth ? [0, 1, 2] : [0, 1]
  const space = Math.max(spaceAfter(shown), minValueWidth)
  const lineOf = (row: readonly string[], value: string): string =>
    [...shown.map((at) => (row[at] ?? '').padEnd(widths[at] ?? 0)), value].join('  ').trimEnd()
  const lines = rows.flatMap((row) => foldText(row[3], space).map((part, at) => lineOf(at === 0 ? row : [], part)))
  return [styled(terminal, 'bold', lineOf(head, head[3])), ...lines].join('\n')
}

/** Splits a value into lines, after a comma if there is one in the second half of a line. */
function foldText(text: string, width: number): readonly string[] {
  if (text.length <= width) return [text]
  const comma = text.lastIndexOf(',', width - 1)
  const end = comma > width / 2 ? comma + 1 : width
  return [text.slice(0, end), ...foldText(text.slice(end), width)]
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
