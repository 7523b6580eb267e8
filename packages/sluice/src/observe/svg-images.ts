/**
 * Warns when a tool returns an SVG as an image block. Models accept PNG, JPEG, GIF and WebP. Claude's API refuses a
 * conversation that has another type in it, so one such result ends the conversation.
 */

import { Prepared } from '../core/answer.ts'
import { isObject } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import type { EndedCall } from '../core/observer.ts'

/** Once per tool: the tool is what has to change, and a busy tool would fill the log. */
export function svgImageWarning(logger: Logger, server: string | undefined): (event: EndedCall) => void {
  const warned = new Set<string>()
  return function warnOfSvg({ call: { target }, answer }) {
    if (target.kind !== 'tool' || !answer || answer instanceof Prepared || warned.has(target.name)) return
    const { content } = answer
    if (!Array.isArray(content) || !content.some(isSvgImage)) return
    warned.add(target.name)
    logger.warn({
      event: 'svg_image',
      server,
      tool: target.name,
      message: 'Some clients refuse SVG images: return a PNG, or a resource link to the SVG',
    })
  }
}

const isSvgImage = (block: unknown): boolean =>
  isObject(block) && block['type'] === 'image' && /^image\/svg/i.test(String(block['mimeType']))
