/** Log lines for a person at a terminal. Programs get JSON lines, because the log is piped to them. */

import type { Logger, LogLine } from 'sluice'
import { escapeControls, styled } from '../output.ts'

type Level = 'debug' | 'info' | 'warn' | 'error'

export interface LogTerminal {
  readonly isTty: boolean
  write(text: string): void
  now(): Date
}

export function terminalLogger(terminal: LogTerminal): Logger {
  const at =
    (level: Level) =>
    (line: LogLine): void =>
      terminal.write(`${describeLine(terminal, level, line)}\n`)
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

const tones = { debug: 'dim', info: 'dim', warn: 'yellow', error: 'red' } as const

/** `18:42:01 info  shop/refund  ann@acme  complete  12 ms`, and below it the stack of a bug. */
function describeLine(terminal: LogTerminal, level: Level, line: LogLine): string {
  const { event, server, tool, method, caller, tenant, outcome, durationMs, reference, message, stack } = line
  const [hours, minutes, seconds] = [
    terminal.now().getHours(),
    terminal.now().getMinutes(),
    terminal.now().getSeconds(),
  ]
  const time = [hours, minutes, seconds].map((part) => String(part).padStart(2, '0')).join(':')
  const name = tool ?? method
  const parts = [
    name === undefined ? event : server === undefined ? name : `${server}/${name}`,
    caller !== undefined && (!tenant || tenant === caller ? caller : `${caller}@${tenant}`),
    outcome,
    durationMs !== undefined && `${Math.round(Number(durationMs))} ms`,
    message ?? line['errorMessage'],
    reference !== undefined && `reference ${reference}`,
    // A line that is not about a call says everything in its own fields.
    ...(name === undefined && message === undefined ? otherFields(line) : []),
  ]
  const text = parts.filter((part) => part !== undefined && part !== false && part !== '').join('  ')
  const head = `${styled(terminal, 'dim', time)} ${styled(terminal, tones[level], level.padEnd(5))} ${escapeControls(text)}`
  return typeof stack === 'string' ? `${head}\n${escapeControls(stack).replace(/^/gm, '  ')}` : head
}

const otherFields = (line: LogLine): readonly string[] =>
  Object.entries(line)
    .filter(([name]) => !['event', 'time', 'level', 'stack', 'errorMessage'].includes(name))
    .map(([name, value]) => `${name}=${String(value)}`)
