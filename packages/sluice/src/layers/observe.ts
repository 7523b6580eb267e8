/** One line per request, whatever happened to it: outermost, so that refusals are seen too. Arguments are never in it. */

import { Prepared } from '../core/answer.ts'
import type { Call, Layer } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { bugOf, RpcError } from '../core/error.ts'
import type { Logger, LogLine } from '../core/log.ts'

/** Reasons whose text may repeat what the caller sent. */
const personal: ReadonlySet<string> = new Set(['invalidArguments', 'toolFailed'])

/** `reference` makes the name a client and the log share for one failure. */
export const observe =
  (logger: Logger, clock: Clock, reference: () => string): Layer =>
  (next) =>
    async function observe(call) {
      const began = clock.now()
      try {
        const answer = await next(call)
        const { facts } = call
        facts.outcome =
          answer instanceof Prepared ? 'complete' : answer.isError ? 'toolError' : (answer.resultType ?? 'complete')
        logger.info(lineOf(call, clock.now() - began))
        return answer
      } catch (thrown) {
        const { facts } = call
        facts.outcome = thrown instanceof RpcError ? thrown.reason : 'internalError'
        facts.reference ??= reference()
        const bug = bugOf(thrown)
        const line = lineOf(call, clock.now() - began)
        if (bug) logger.error({ ...line, ...bug })
        else
          logger.warn(
            thrown instanceof RpcError && !personal.has(thrown.reason) ? { ...line, message: thrown.message } : line,
          )
        throw thrown
      }
    }

const lineOf = ({ id, method, target, revision, via, facts }: Call, durationMs: number): LogLine => ({
  event: 'request',
  id,
  method,
  tool: target.kind === 'tool' ? target.name : undefined,
  target: target.kind === 'tool' || target.kind === 'method' ? undefined : target.name,
  revision,
  transport: via.transport,
  durationMs,
  ...facts,
})
