/** The result of a tool as a test reads it. */

import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'

/** The result of a tool, with its members typed. A plain object otherwise, so tests compare it as it is. */
export interface TestToolResult extends Params {
  readonly content: readonly TestContent[]
  /** The data for programs. A test reads any member and fails if it differs. */
  // biome-ignore lint/suspicious/noExplicitAny: its type is the output schema of the tool, which is not known here
  readonly structuredContent?: any
  readonly isError?: boolean
  /** Returns the text blocks, joined by line breaks. */
  text(): string
}

/** One block of content. Other members depend on the type. */
export interface TestContent extends Params {
  readonly type: string
  readonly text?: string
}

/** Adds `text()` out of sight of comparisons: two results are equal if their data is. */
export function toToolResult(result: Params): TestToolResult {
  const text = (): string =>
    (Array.isArray(result['content']) ? result['content'] : [])
      .flatMap((block: unknown) => (isObject(block) && typeof block['text'] === 'string' ? [block['text']] : []))
      .join('\n')
  return Object.defineProperty({ ...result }, 'text', { value: text, enumerable: false }) as TestToolResult
}
