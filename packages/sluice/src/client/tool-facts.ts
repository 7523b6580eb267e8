/**
 * Facts about tools that calls need: which arguments are repeated in headers, and whether a tool may run as a task of
 * 2025-11-25. Learned from every `tools/list` that passes. The server refuses a call whose headers are missing, and the
 * client then lists the tools and repeats it.
 */

import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { HeaderParam } from '../core/target.ts'
import { headerParams } from '../protocol/schema.ts'
import { ClientError } from './errors.ts'

const maxTools = 10_000

export interface ToolFacts {
  /** Learns from the entries of one page of `tools/list`. */
  learn(tools: unknown): void
  /** Returns the marked arguments of a tool. Throws if its marks are invalid, because its calls cannot be mirrored. */
  headersOf(name: unknown): readonly HeaderParam[]
  supportsTask(name: string): boolean
  /** Why a listed tool cannot be called; `undefined` if it can. */
  problemOf(name: unknown): string | undefined
}

export function createToolFacts(ignored: (problem: string) => void): ToolFacts {
  const known = new Map<string, readonly HeaderParam[] | string>()
  const tasked = new Set<string>()
  return {
    learn(tools) {
      for (const tool of Array.isArray(tools) ? tools : []) {
        if (!isObject(tool) || typeof tool['name'] !== 'string' || known.size + tasked.size >= maxTools) continue
        const support = isObject(tool['execution']) ? tool['execution']['taskSupport'] : undefined
        if (support === 'required' || support === 'optional') tasked.add(tool['name'])
        else tasked.delete(tool['name'])
        try {
          const params = headerParams(tool['inputSchema'], 'input')
          if (params.length > 0) known.set(tool['name'], params)
          else known.delete(tool['name'])
        } catch (thrown) {
          const problem = thrown instanceof Error ? thrown.message : 'its input schema cannot be read'
          ignored(`the tool ${tool['name'].slice(0, 64)}: ${problem}`)
          known.set(tool['name'], problem)
        }
      }
    },
    headersOf(name) {
      const found = known.get(name as string) ?? []
      if (typeof found !== 'string') return found
      throw new ClientError('protocol', `The tool cannot be called: ${found}`, { mayHaveRun: false })
    },
    supportsTask: (name) => tasked.has(name),
    problemOf(name) {
      const found = known.get(name as string)
      return typeof found === 'string' ? found : undefined
    },
  }
}

/** Whether a request is a call of a tool, whose arguments may be repeated in headers. */
export const isToolCall = (method: string, params: Params): boolean =>
  method === 'tools/call' && typeof params['name'] === 'string'
